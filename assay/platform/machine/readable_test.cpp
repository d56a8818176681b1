#include "assay/platform/machine/readable.hpp"

#include <gtest/gtest.h>

#include <map>

#include "assay/platform/root_fixture.hpp"

namespace assay::platform {
namespace {

std::map<std::string, bool> found_in(const FakeRoot& root) {
  std::map<std::string, bool> out;
  for (const auto& counter : counters_in_files(root.path())) {
    out[counter.name] = counter.readable;
    EXPECT_EQ(counter.readable, !counter.why.has_value()) << counter.name;
  }
  return out;
}

TEST(Readable, nothing_is_readable_where_there_is_nothing) {
  for (const auto& [name, readable] : found_in(FakeRoot())) EXPECT_FALSE(readable) << name;
}

TEST(Readable, each_counter_has_its_file) {
  const struct {
    const char* name;
    const char* file;
    const char* text;
  } kCases[] = {{"schedstat", "proc/self/schedstat", "123 45 6\n"},
                {"pressure", "proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"},
                {"steal", "proc/stat", "cpu  1 2 3 4 5 6 7 8\ncpu0 1 2 3 4 5 6 7 8 0 0\n"},
                {"frequency", "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1800000\n"},
                {"energy", "sys/class/powercap/intel-rapl:0/energy_uj", "123456\n"}};
  for (const auto& one : kCases) {
    FakeRoot root;
    root.file(one.file, one.text);
    for (const auto& [name, readable] : found_in(root))
      EXPECT_EQ(readable, name == one.name) << one.file << " " << name;
  }
}

TEST(Readable, each_counter_is_explained) {
  std::vector<std::string> explained;
  for (const auto& text : counter_texts()) explained.push_back(text.name);
  std::vector<std::string> listed;
  for (const auto& counter : counters_in_files(FakeRoot().path())) listed.push_back(counter.name);
  listed.push_back(perf_counter().name);
  EXPECT_EQ(explained, listed);
}

TEST(Readable, energy_that_reads_zero_is_no_counter) {
  FakeRoot root;
  root.file("sys/class/powercap/intel-rapl:0/energy_uj", "0\n");
  EXPECT_FALSE(found_in(root)["energy"]);
}

TEST(Readable, throttling_is_counted_where_a_group_has_a_quota) {
  FakeRoot root;
  root.file("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  root.file("proc/self/cgroup", "0::/\n").file("sys/fs/cgroup/cpu.stat", "usage_usec 1\nthrottled_usec 0\n");
  EXPECT_TRUE(found_in(root)["throttling"]);
}

}  // namespace
}  // namespace assay::platform
