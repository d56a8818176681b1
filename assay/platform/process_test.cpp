#include "assay/platform/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "assay/platform/proc.hpp"

namespace assay::platform {
namespace {

/// A child that waits until it is killed; killed and reaped when the object ends.
class Child {
 public:
  Child() {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      if (write(ends[1], "x", 1) != 1) _exit(1);
      while (true) pause();
    }
    char ready = 0;
    if (read(ends[0], &ready, 1) != 1) std::abort();
    close(ends[0]);
    close(ends[1]);
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(Process, a_living_process_has_start_ticks_that_stay) {
  const auto first = start_ticks(getpid());
  ASSERT_TRUE(first.has_value());
  EXPECT_GT(*first, 0);
  EXPECT_EQ(start_ticks(getpid()), first);
}

TEST(Process, a_zombie_counts_as_gone) {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);  // ended, not reaped
  EXPECT_FALSE(start_ticks(pid).has_value());
  waitpid(pid, nullptr, 0);
}

TEST(Process, descendants_are_found_and_the_root_is_not_one) {
  const Child child;
  const auto below = descendants(getpid());
  EXPECT_THAT(below, testing::Contains(child.pid()));
  EXPECT_THAT(below, testing::Not(testing::Contains(getpid())));
}

TEST(Process, an_environment_entry_is_matched_whole) {
  // /proc shows the environment a process was started with, so a program with a known one is started.
  const pid_t pid = fork();
  if (pid == 0) {
    const char* argv[] = {"/bin/sleep", "1000", nullptr};
    const char* environment[] = {"ASSAY_TEST_MARK=abc", nullptr};
    execve(argv[0], const_cast<char**>(argv), const_cast<char**>(environment));
    _exit(1);
  }
  std::vector<pid_t> found;
  for (int i = 0; i < 1000 && found.empty(); ++i) {
    found = processes_with_environment("ASSAY_TEST_MARK=abc");
    usleep(1000);
  }
  EXPECT_THAT(found, testing::ElementsAre(pid));
  EXPECT_TRUE(processes_with_environment("ASSAY_TEST_MARK=ab").empty());
  EXPECT_TRUE(processes_with_environment("TEST_MARK=abc").empty());
  const auto marked = processes_with_variable("ASSAY_TEST_MARK", "ab");
  ASSERT_EQ(marked.size(), 1u);
  EXPECT_EQ(marked[0].pid, pid);
  EXPECT_EQ(marked[0].name, "sleep");
  EXPECT_EQ(marked[0].value, "abc");
  EXPECT_TRUE(processes_with_variable("ASSAY_TEST_MARK", "b").empty());
  const auto above = names_above(pid);
  ASSERT_FALSE(above.empty());
  EXPECT_THAT(above[0], testing::StartsWith("platform_test"));
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

TEST(Process, a_busy_thread_uses_cpu_and_the_counter_grows) {
  const auto before = tree_use({getpid()});
  ASSERT_TRUE(before.cpu_ns.has_value());
  volatile double sink = 1;
  for (int i = 0; i < 20'000'000; ++i) sink = sink * 1.0000001;
  const auto after = tree_use({getpid()});
  EXPECT_GT(*after.cpu_ns, *before.cpu_ns + 1'000'000);
}

void burn(std::int64_t ns) {
  timespec time{};
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  } while (static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec < ns);
}

TEST(Process, what_a_child_used_stays_when_it_has_ended) {
  const auto before = tree_use({getpid()});
  const pid_t pid = fork();
  if (pid == 0) {
    burn(200'000'000);
    _exit(0);
  }
  waitpid(pid, nullptr, 0);
  const auto after = tree_use({getpid()});
  EXPECT_GT(*after.cpu_ns, *before.cpu_ns + 170'000'000);  // ticks of 10 ms, user and system apart
  EXPECT_TRUE(after.threads.count(getpid()) == 1);
}

TEST(Process, a_busy_process_below_this_one_is_no_neighbour) {  // tests/measure/test_validity.py has one that is
  const pid_t own = fork();
  if (own == 0) {
    while (true) burn(1'000'000'000'000);
  }
  const auto busy = busiest_processes({0, 1, 2, 3, 4, 5, 6, 7}, 1000, 50'000'000);
  kill(own, SIGKILL);
  waitpid(own, nullptr, 0);
  for (const auto& one : busy) {
    EXPECT_NE(one.pid, own);
    EXPECT_GE(one.cpus, 0.1);
  }
}

TEST(Process, nothing_can_be_read_of_a_process_that_is_not_there) {
  EXPECT_FALSE(tree_use({999'999'999}).cpu_ns.has_value());
  EXPECT_EQ(resident_bytes({999'999'999}), 0);
  EXPECT_FALSE(start_ticks(999'999'999).has_value());
}

TEST(Process, resident_memory_grows_by_what_is_touched) {
  const auto before = resident_bytes({getpid()});
  std::vector<char> block(64u << 20, 1);
  EXPECT_GT(resident_bytes({getpid()}), before + (60 << 20));
  EXPECT_EQ(block.back(), 1);
}

TEST(Process, pages_shared_with_a_child_count_once_in_the_proportional_sum) {
  std::vector<char> block(64u << 20, 1);
  const auto alone = proportional_bytes({getpid()});
  if (!alone) GTEST_SKIP() << "this kernel does not tell";
  const Child child;  // shares the block
  const auto both = proportional_bytes({getpid(), child.pid()});
  EXPECT_LT(*both, *alone + (32 << 20));
  EXPECT_GT(resident_bytes({getpid(), child.pid()}), *alone + (32 << 20));
  EXPECT_EQ(block.back(), 1);
}

TEST(Process, the_time_of_every_process_is_found_with_its_name) {
  volatile double sink = 1;
  const auto mine = [] {
    for (const auto& one : process_times()) {
      if (one.pid == getpid()) return one;
    }
    return ProcessTime{};
  };
  const auto before = mine();
  EXPECT_EQ(before.name, "platform_test");
  EXPECT_EQ(before.start_ticks, start_ticks(getpid()));
  while (*tree_use({getpid()}).cpu_ns < before.cpu_ns + 50'000'000) sink = sink * 1.0000001;
  const auto after = mine();
  EXPECT_GE(after.cpu_ns, before.cpu_ns + 30'000'000);  // 50 ms, less two steps of 10 ms
}

TEST(Proc, an_integer_is_found_only_at_the_beginning_of_a_line) {
  const std::string text = "first 3\nxsecond 4\nsecond\t5\n";
  EXPECT_EQ(integer_after(text, "first"), 3);
  EXPECT_EQ(integer_after(text, "second"), 5);
  EXPECT_FALSE(integer_after(text, "third").has_value());
}

TEST(Process, a_number_of_stat_is_found_by_its_place_and_others_are_null) {
  EXPECT_EQ(stat_number(getpid(), 4), getppid());
  EXPECT_FALSE(stat_number(getpid(), 2).has_value());  // the name
  EXPECT_FALSE(stat_number(getpid(), 3).has_value());  // a letter
  EXPECT_FALSE(stat_number(getpid(), 999).has_value());
  EXPECT_FALSE(stat_number(-1, 4).has_value());
}

}  // namespace
}  // namespace assay::platform
