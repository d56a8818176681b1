#include "assay/measure/host_lock.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

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

}  // namespace
}  // namespace assay::measure
