#include "assay/measure/agent/host_lock.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "assay/core/error.hpp"

namespace assay::measure {
namespace {

TEST(HostLock, whether_it_is_held_is_seen_without_taking_it) {
  const std::string path = testing::TempDir() + "host_lock_test-" + std::to_string(getpid());
  const auto at_once = [] { return false; };
  const HostLock looker(path);
  EXPECT_EQ(looker.is_held(), false);
  EXPECT_FALSE(std::filesystem::exists(path)) << "looking made a file";
  HostLock lock(path);
  ASSERT_TRUE(lock.take(at_once));
  EXPECT_EQ(looker.is_held(), true);
  lock.give_back();
  EXPECT_EQ(looker.is_held(), false);
  ASSERT_TRUE(lock.take(at_once)) << "a look kept the lock";
  lock.give_back();
  std::filesystem::remove(path);
}

TEST(HostLock, what_is_not_a_regular_file_is_refused_at_once) {
  // Without O_NONBLOCK the test never ends: open(2) waits for a writer of the FIFO.
  const std::string path = testing::TempDir() + "host_lock_test-odd-" + std::to_string(getpid());
  const auto refusal = [&] {
    try {
      static_cast<void>(HostLock(path).take([] { return false; }));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  ASSERT_EQ(mkfifo(path.c_str(), 0666), 0);
  EXPECT_EQ(refusal(), "cannot open the host lock " + path +
                           ": it is a FIFO, not a regular file. Remove it, or name another with --host-lock, or none "
                           "with --no-host-lock.");
  EXPECT_EQ(HostLock(path).is_held(), std::nullopt);
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/etc/passwd", path);
  EXPECT_NE(refusal().find("it is a symbolic link"), std::string::npos) << refusal();
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_NE(refusal().find("it is a folder"), std::string::npos) << refusal();
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace assay::measure
