#include "assay/platform/inherited_number.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

namespace assay::platform {
namespace {

constexpr std::int64_t kNumber = 0x7abc'def0'1234'5678;

/// Becomes a daemon as they all do: a new session, a parent that ends, no descriptors and no environment. The two ends
/// of a pipe tell its id.
[[noreturn]] void become_daemon(const std::array<int, 2>& pipe) {
  if (!set_inherited_number(kNumber)) _exit(1);
  setsid();
  if (fork() != 0) _exit(0);
  const pid_t self = getpid();
  if (write(pipe[1], &self, sizeof self) != sizeof self) _exit(1);
  for (int fd = 0; fd < 100; ++fd) close(fd);
  std::array<char*, 3> argv{const_cast<char*>("/bin/sleep"), const_cast<char*>("1000"), nullptr};
  std::array<char*, 1> environment{nullptr};
  execve(argv[0], argv.data(), environment.data());
  _exit(1);
}

TEST(InheritedNumber, IsKeptByADaemonWithoutEnvironment) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = fork();
  if (child == 0) become_daemon(pipe);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  pid_t daemon = 0;
  ASSERT_EQ(read(pipe[0], &daemon, sizeof daemon), static_cast<ssize_t>(sizeof daemon));
  const auto look = [&] {
    const auto all = numbered_processes();
    const auto it = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.pid == daemon; });
    return it != all.end() ? *it : NumberedProcess{};
  };
  for (int i = 0; i < 10'000 && look().name != "sleep"; ++i) usleep(1000);
  EXPECT_EQ(look().name, "sleep");
  EXPECT_EQ(look().number, kNumber);
  kill(daemon, SIGKILL);
  for (int i = 0; i < 10'000 && look().pid != 0; ++i) usleep(1000);
  EXPECT_EQ(look().pid, 0) << "it has ended";
  close(pipe[0]);
  close(pipe[1]);
}

TEST(InheritedNumber, IsRefusedWhereTheHardLimitIsLower) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit low{1000, 1000};
    if (setrlimit(RLIMIT_LOCKS, &low) != 0) _exit(2);
    // Root may set any limit, and so goes on as nobody.
    if (geteuid() == 0 && setuid(65534) != 0) _exit(3);
    _exit(set_inherited_number(kNumber) ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace assay::platform
