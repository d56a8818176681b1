#include "assay/platform/counters.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

namespace assay::platform {
namespace {

// user nice system idle iowait irq softirq steal guest guest_nice, in ticks of 10 ms
const std::string kStat =
    "cpu  60 6 6 600 6 6 6 6 0 0\n"
    "cpu0 10 1 2 100 3 4 5 6 0 0\n"
    "cpu1 20 2 3 200 4 5 6 7 0 0\n"
    "cpu10 1000 0 0 0 0 0 0 1000 0 0\n"
    "intr 1\n";

TEST(Counters, busy_and_steal_are_summed_over_the_cpus_allowed_only) {
  Counters counters;
  read_cpu_times(kStat, {0, 1}, counters);
  // cpu0: 10+1+2+4+5 = 22, cpu1: 20+2+3+5+6 = 36; idle and iowait are not busy.
  EXPECT_EQ(counters.busy_ns, 58 * 10'000'000LL);
  EXPECT_EQ(counters.so_far.steal_ns, 13 * 10'000'000LL);
}

TEST(Counters, cpu_1_is_not_taken_for_cpu_10) {
  Counters counters;
  read_cpu_times(kStat, {10}, counters);
  EXPECT_EQ(counters.busy_ns, 10'000'000'000LL);
}

TEST(Counters, a_cpu_that_is_not_listed_leaves_null_not_zero) {
  Counters counters;
  read_cpu_times(kStat, {0, 2}, counters);
  EXPECT_FALSE(counters.busy_ns.has_value());
  EXPECT_FALSE(counters.so_far.steal_ns.has_value());
}

TEST(Counters, pressure_is_the_total_of_the_some_line_in_nanoseconds) {
  EXPECT_EQ(read_pressure_total("some avg10=0.00 avg60=0.00 avg300=0.00 total=123\nfull avg10=0 total=9\n"), 123'000);
  EXPECT_FALSE(read_pressure_total("full avg10=0.00 total=9\n").has_value());
  EXPECT_FALSE(read_pressure_total("some avg10=0.00\nfull total=9\n").has_value());
}

TEST(Counters, what_either_reading_lacks_is_null_in_the_difference) {
  Counters before;
  Counters after;
  before.so_far.steal_ns = 5;
  after.so_far.steal_ns = 25;
  after.so_far.cpu_pressure_ns = 7;
  before.at_ns = 100;
  after.at_ns = 1100;
  const auto d = between(before, after, {}, 0);
  EXPECT_EQ(d.window_ns, 1000);
  EXPECT_EQ(d.steal_ns, 20);
  EXPECT_FALSE(d.cpu_pressure_ns.has_value());
  EXPECT_FALSE(d.other_cpu_ns.has_value());
}

TEST(Counters, a_sum_that_fell_because_threads_ended_is_null) {
  Counters before;
  Counters after;
  before.tree.cpu_ns = 100;
  after.tree.cpu_ns = 50;
  EXPECT_FALSE(between(before, after, {}, 0).cpu_ns.has_value());
}

TEST(Counters, cpu_of_the_workers_own_tree_is_not_that_of_others) {
  Counters before;
  Counters after;
  before.busy_ns = 0;
  after.busy_ns = 1000;
  before.tree.cpu_ns = 0;
  after.tree.cpu_ns = 900;
  EXPECT_EQ(between(before, after, {0}, 0).other_cpu_ns, 100);
  before.self_cpu_ns = 5;
  after.self_cpu_ns = 65;  // the probe
  EXPECT_EQ(between(before, after, {0}, 0).other_cpu_ns, 40);
}

std::int64_t major_faults_by_getrusage() {
  rusage own{};
  rusage children{};
  EXPECT_EQ(getrusage(RUSAGE_SELF, &own), 0);
  EXPECT_EQ(getrusage(RUSAGE_CHILDREN, &children), 0);
  return own.ru_majflt + children.ru_majflt;
}

/// Reads a page of a file that the kernel was asked to forget: on most file systems a major fault.
void read_forgotten_page() {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const std::string text(1 << 16, 'x');
  ASSERT_EQ(std::fwrite(text.data(), 1, text.size(), file), text.size());
  ASSERT_EQ(std::fflush(file), 0);
  ASSERT_EQ(fsync(fileno(file)), 0);
  posix_fadvise(fileno(file), 0, 0, POSIX_FADV_DONTNEED);
  void* mapped = mmap(nullptr, text.size(), PROT_READ, MAP_SHARED, fileno(file), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_EQ(*static_cast<volatile char*>(mapped), 'x');
  munmap(mapped, text.size());
  std::fclose(file);
}

TEST(Counters, major_faults_are_those_that_getrusage_counts) {
  const auto least = major_faults_by_getrusage();
  const auto before = read_counters({}, {getpid()});
  const auto begin = major_faults_by_getrusage();
  read_forgotten_page();
  const auto end = major_faults_by_getrusage();
  const auto after = read_counters({}, {getpid()});
  const auto most = major_faults_by_getrusage();
  const auto faults = between(before, after, {}, 0).major_faults;
  ASSERT_TRUE(faults.has_value());
  EXPECT_GE(*faults, end - begin);
  EXPECT_LE(*faults, most - least);
}

TEST(Counters, major_faults_of_nobody_are_null_not_zero) {
  const auto nobody = read_counters({}, {});
  EXPECT_FALSE(between(nobody, nobody, {}, 0).major_faults.has_value());
}

constexpr std::int64_t kSecond = 1'000'000'000;

/// Two readings 2 s apart, of which the worker ran steps for 1 s.
struct Readings {
  Counters before;
  Counters after;
  Readings() { after.at_ns = 2 * kSecond; }
  void thread(pid_t id, std::int64_t ran, std::int64_t waited) {
    before.tree.threads[id] = {100, 100, 0};
    after.tree.threads[id] = {100 + ran, 100 + waited, 0};
    before.tree.cpu_ns = before.tree.cpu_ns.value_or(0) + 100;
    after.tree.cpu_ns = after.tree.cpu_ns.value_or(0) + 100 + ran;
  }
  Disturbance difference() const { return between(before, after, {0}, kSecond); }
};

TEST(Counters, a_thread_is_active_from_a_fifth_of_the_time_its_process_was_measured) {
  Readings r;
  r.thread(1, kSecond * 20 / 100, 0);
  r.thread(2, kSecond * 19 / 100, 0);
  r.thread(3, kSecond * 19 / 100, kSecond * 31 / 100);  // wanted a CPU for half of it
  r.thread(4, kSecond * 19 / 100, kSecond * 30 / 100);
  const auto d = r.difference();
  EXPECT_EQ(d.active_threads, 2);
  EXPECT_EQ(d.threads, 4);
  EXPECT_EQ(d.wait_ns, kSecond * 61 / 100);
}

TEST(Counters, where_threads_that_ended_did_the_work_the_rest_tells_nothing) {
  Readings r;
  r.thread(1, kSecond / 10, kSecond);
  *r.after.tree.cpu_ns += kSecond;  // a child that has ended
  const auto d = r.difference();
  EXPECT_EQ(d.cpu_ns, kSecond + kSecond / 10);
  EXPECT_FALSE(d.active_threads.has_value());
  EXPECT_FALSE(d.wait_ns.has_value());
  EXPECT_EQ(d.threads, 1);
}

TEST(Counters, a_thread_that_is_new_counts_with_all_it_ran) {
  Readings r;
  r.thread(1, kSecond / 2, 0);
  r.before.tree = {};
  r.before.tree.cpu_ns = 0;
  EXPECT_EQ(r.difference().active_threads, 1);
}

}  // namespace
}  // namespace assay::platform
