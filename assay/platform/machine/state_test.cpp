#include "assay/platform/machine/state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/platform/root_fixture.hpp"

namespace assay::platform {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(State, is_read_from_the_files_of_the_kernel) {
  FakeRoot root;
  const std::string cpu = "sys/devices/system/cpu/";
  root.file("proc/sys/kernel/osrelease", "6.1.0-13-amd64\n").file("proc/loadavg", "0.25 1.50 3.00 2/345 6789\n");
  root.file(cpu + "cpu2/cpufreq/scaling_governor", "powersave\n")
      .file(cpu + "cpu3/cpufreq/scaling_governor", "performance\n");
  root.file(cpu + "cpu2/cpufreq/scaling_cur_freq", "2400000\n").file(cpu + "intel_pstate/no_turbo", "1\n");
  root.file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  root.file("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  root.file("proc/meminfo", "MemTotal: 100 kB\nMemAvailable:   60 kB\nSwapTotal:  40 kB\nSwapFree:  30 kB\n");
  const auto s = read_state({2, 3}, root.path());
  EXPECT_EQ(s.kernel, "6.1.0-13-amd64");
  EXPECT_EQ(s.governor, "performance,powersave");
  EXPECT_EQ(s.turbo, false);
  EXPECT_EQ(s.frequency_khz, 2'400'000);
  EXPECT_EQ(s.huge_pages, "madvise");
  EXPECT_EQ(s.clocksource, "hpet");
  EXPECT_THAT(s.load, Optional(ElementsAre(0.25, 1.5, 3.0)));
  EXPECT_EQ(s.memory_available_bytes, 60 * 1024);
  EXPECT_EQ(s.swap_total_bytes, 40 * 1024);
  EXPECT_EQ(s.swap_used_bytes, 10 * 1024);
}

TEST(State, turbo_of_other_makers_is_called_boost) {
  FakeRoot root;
  root.file("sys/devices/system/cpu/cpufreq/boost", "1\n");
  EXPECT_EQ(read_state({0}, root.path()).turbo, true);
}

TEST(State, what_cannot_be_read_is_null) {
  const FakeRoot root;
  const json state = to_json(read_state({0}, root.path()));
  for (const auto& [name, value] : state.items()) EXPECT_TRUE(value.is_null()) << name;
}

TEST(State, throttling_of_a_quota_is_counted) {
  FakeRoot root;
  root.file("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  root.file("proc/self/cgroup", "0::/job\n");
  root.file("sys/fs/cgroup/job/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_usec 12\n");
  const auto s = read_state({0}, root.path());
  EXPECT_EQ(s.throttled_periods, 4);
  EXPECT_EQ(s.throttled_ns, 12'000);
}

}  // namespace
}  // namespace assay::platform
