#include "assay/process/spawn.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "assay/core/clock.hpp"
#include "assay/platform/process.hpp"

namespace assay::process {
namespace {

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> chunk;
  ssize_t got = 0;
  while ((got = read(fd, chunk.data(), chunk.size())) > 0) text.append(chunk.data(), static_cast<std::size_t>(got));
  return text;
}

std::string output_of(SpawnRequest request) {
  Pipe out = make_pipe();
  request.stdout_fd = out.write_end.get();
  const auto spawned = spawn(request);
  EXPECT_GT(spawned.pid, 0);
  out.write_end.reset();
  auto text = read_all(out.read_end.get());
  waitpid(spawned.pid, nullptr, 0);
  return text;
}

class SpawnTest : public testing::Test {
 protected:
  void SetUp() override { prctl(PR_SET_CHILD_SUBREAPER, 1); }
  void TearDown() override { end_tree(0, 0); }
};

TEST_F(SpawnTest, arguments_reach_the_program_as_they_are) {
  SpawnRequest request;
  request.argv = {"printf", "%s|", "$(touch /tmp/x); `id` && \"*\"", "a b"};
  EXPECT_EQ(output_of(request), "$(touch /tmp/x); `id` && \"*\"|a b|");
}

TEST_F(SpawnTest, the_environment_is_what_was_given_and_nothing_else) {
  setenv("ASSAY_SPAWN_TEST", "inherited", 1);
  SpawnRequest request;
  request.argv = {"env"};
  request.environment = {"ONE=1", "TWO=2"};
  EXPECT_EQ(output_of(request), "ONE=1\nTWO=2\n");
}

TEST_F(SpawnTest, no_other_descriptor_is_inherited) {
  const Fd open_file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  SpawnRequest request;
  request.argv = {"ls", "/proc/self/fd"};
  EXPECT_EQ(output_of(request), "0\n1\n2\n3\n");  // 3 is the directory that ls itself reads
}

TEST_F(SpawnTest, a_descriptor_can_be_left_open_on_purpose) {
  const Fd open_file(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 50));
  SpawnRequest request;
  request.argv = {"ls", "/proc/self/fd"};
  request.inherit = {open_file.get()};
  EXPECT_NE(output_of(request).find("50\n"), std::string::npos);
}

TEST_F(SpawnTest, a_program_that_is_not_there_is_an_error_number) {
  SpawnRequest request;
  request.argv = {"/no/such/program"};
  const auto spawned = spawn(request);
  EXPECT_EQ(spawned.pid, -1);
  EXPECT_EQ(spawned.error, ENOENT);
}

TEST_F(SpawnTest, the_pidfd_becomes_readable_when_the_process_ends) {
  SpawnRequest request;
  request.argv = {"true"};
  const auto spawned = spawn(request);
  pollfd fd{spawned.pidfd.get(), POLLIN, 0};
  EXPECT_EQ(poll(&fd, 1, 10'000), 1);
  waitpid(spawned.pid, nullptr, 0);
}

TEST_F(SpawnTest, a_tree_that_ignores_sigterm_and_escapes_its_session_is_ended) {
  SpawnRequest request;
  request.argv = {"/bin/sh", "-c", "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo up >&1; sleep 1000' & sleep 1000"};
  request.environment = {"PATH=/usr/bin:/bin"};
  Pipe out = make_pipe();
  request.stdout_fd = out.write_end.get();
  const auto spawned = spawn(request);
  ASSERT_GT(spawned.pid, 0);
  char up = 0;
  ASSERT_EQ(read(out.read_end.get(), &up, 1), 1);  // the escapee is there
  const auto begin = monotonic_ns();
  EXPECT_TRUE(end_tree(spawned.pid, 0.2));
  EXPECT_LT(monotonic_ns() - begin, 5'000'000'000);
  EXPECT_TRUE(platform::descendants(getpid()).empty());
}

TEST_F(SpawnTest, a_stopped_process_is_ended) {
  SpawnRequest request;
  request.argv = {"sleep", "1000"};
  const auto spawned = spawn(request);
  kill(spawned.pid, SIGSTOP);
  EXPECT_TRUE(end_tree(spawned.pid, 0.05));
}

}  // namespace
}  // namespace assay::process
