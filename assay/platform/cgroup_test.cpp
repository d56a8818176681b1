#include "assay/platform/cgroup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/platform/root_fixture.hpp"

namespace assay::platform {
namespace {

using testing::ElementsAre;
using testing::Optional;

const std::string kUnified = "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw\n";
// As systemd mounts version 1, with version 2 beside it for its own use.
const std::string kHybrid =
    "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "32 31 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
    "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:5 - cgroup cgroup rw,cpu,cpuacct\n"
    "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
const std::string kHybridGroups =
    "4:memory:/user.slice\n3:cpuset:/\n2:cpu,cpuacct:/user.slice/job\n1:name=systemd:/init\n0::/init\n";

TEST(Cgroup, the_tightest_quota_around_a_process_counts_in_version_2) {
  FakeRoot root;
  root.file("proc/self/mountinfo", kUnified).file("proc/self/cgroup", "0::/a.slice/b.scope\n");
  root.file("sys/fs/cgroup/a.slice/cpu.max", "150000 100000\n").file("sys/fs/cgroup/a.slice/memory.max", "max\n");
  root.file("sys/fs/cgroup/a.slice/b.scope/cpu.max", "max 100000\n");
  root.file("sys/fs/cgroup/a.slice/b.scope/memory.max", "1073741824\n");
  root.file("sys/fs/cgroup/a.slice/b.scope/cpuset.cpus.effective", "0-2,8\n");
  const auto limits = read_cgroup_limits(root.path());
  EXPECT_EQ(limits.cpus, 1.5);
  EXPECT_EQ(limits.memory_bytes, 1 << 30);
  EXPECT_THAT(limits.cpuset, Optional(ElementsAre(0, 1, 2, 8)));
}

TEST(Cgroup, an_inner_group_may_be_the_tighter_one) {
  FakeRoot root;
  root.file("proc/self/mountinfo", kUnified).file("proc/self/cgroup", "0::/a/b/c\n");
  root.file("sys/fs/cgroup/a/cpu.max", "400000 100000\n").file("sys/fs/cgroup/a/b/cpu.max", "25000 50000\n");
  root.file("sys/fs/cgroup/a/b/c/cpu.max", "90000 100000\n");
  EXPECT_EQ(read_cgroup_limits(root.path()).cpus, 0.5);
}

TEST(Cgroup, controllers_of_version_1_are_found_where_both_versions_are_mounted) {
  FakeRoot root;
  root.file("proc/self/mountinfo", kHybrid).file("proc/self/cgroup", kHybridGroups);
  root.file("sys/fs/cgroup/cpu,cpuacct/user.slice/cpu.cfs_quota_us", "200000\n");
  root.file("sys/fs/cgroup/cpu,cpuacct/user.slice/cpu.cfs_period_us", "100000\n");
  root.file("sys/fs/cgroup/cpu,cpuacct/user.slice/job/cpu.cfs_quota_us", "-1\n");
  root.file("sys/fs/cgroup/cpu,cpuacct/user.slice/job/cpu.cfs_period_us", "100000\n");
  root.file("sys/fs/cgroup/memory/user.slice/memory.limit_in_bytes", "9223372036854771712\n");
  root.file("sys/fs/cgroup/cpuset/cpuset.cpus", "0-3\n");
  const auto limits = read_cgroup_limits(root.path());
  EXPECT_EQ(limits.cpus, 2.0);
  EXPECT_FALSE(limits.memory_bytes.has_value()) << "the largest number is not a limit";
  EXPECT_THAT(limits.cpuset, Optional(ElementsAre(0, 1, 2, 3)));
}

TEST(Cgroup, a_container_that_sees_only_its_own_part_of_the_tree_is_understood) {
  FakeRoot root;
  // Docker with version 1: the path names the host's tree, the mount shows only the container's own group.
  root.file("proc/self/mountinfo", "9 8 0:30 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n");
  root.file("proc/self/cgroup", "2:cpu,cpuacct:/docker/abc\n");
  root.file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n").file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read_cgroup_limits(root.path()).cpus, 0.5);
}

TEST(Cgroup, a_group_above_what_can_be_seen_is_taken_for_the_top) {
  FakeRoot root;
  root.file("proc/self/mountinfo", kUnified).file("proc/self/cgroup", "0::/../../elsewhere\n");
  root.file("sys/fs/cgroup/cpu.max", "70000 100000\n");
  EXPECT_EQ(read_cgroup_limits(root.path()).cpus, 0.7);
}

TEST(Cgroup, without_control_groups_there_is_no_limit) {
  const FakeRoot root;
  const auto limits = read_cgroup_limits(root.path());
  EXPECT_FALSE(limits.cpus || limits.cpuset || limits.memory_bytes);
  EXPECT_FALSE(read_throttling(cgroup_directories("cpu", root.path())).has_value());
}

TEST(Cgroup, garbage_is_no_limit) {
  for (const char* text : {"", "max", "a b", "0 100000", "100000 0", "-5 100000", "1 2 3"}) {
    FakeRoot root;
    root.file("proc/self/mountinfo", kUnified).file("proc/self/cgroup", "x\n:\n0::/\n");
    root.file("sys/fs/cgroup/cpu.max", text).file("sys/fs/cgroup/memory.max", text);
    const auto limits = read_cgroup_limits(root.path());
    EXPECT_FALSE(limits.cpus || limits.memory_bytes) << text;
  }
}

TEST(Cgroup, throttling_is_summed_over_the_groups_around_a_process) {
  FakeRoot root;
  root.file("proc/self/mountinfo", kUnified).file("proc/self/cgroup", "0::/a/b\n");
  root.file("sys/fs/cgroup/cpu.stat", "usage_usec 900\n");  // the root counts no throttling
  root.file("sys/fs/cgroup/a/cpu.stat", "usage_usec 7\nnr_periods 10\nnr_throttled 4\nthrottled_usec 2500\n");
  root.file("sys/fs/cgroup/a/b/cpu.stat", "usage_usec 7\nnr_periods 5\nnr_throttled 1\nthrottled_usec 500\n");
  const auto throttling = read_throttling(cgroup_directories("cpu", root.path()));
  ASSERT_TRUE(throttling.has_value());
  EXPECT_EQ(throttling->throttled_ns, 3'000'000);
  EXPECT_EQ(throttling->periods, 15);
  EXPECT_EQ(throttling->throttled_periods, 5);
}

TEST(Cgroup, version_1_counts_throttled_time_in_nanoseconds) {
  FakeRoot root;
  root.file("proc/self/mountinfo", kHybrid).file("proc/self/cgroup", kHybridGroups);
  root.file("sys/fs/cgroup/cpu,cpuacct/user.slice/job/cpu.stat", "nr_periods 3\nnr_throttled 2\nthrottled_time 77\n");
  EXPECT_EQ(read_throttling(cgroup_directories("cpu", root.path()))->throttled_ns, 77);
}

TEST(Cgroup, lists_of_cpus_are_read_and_written) {
  EXPECT_THAT(parse_cpu_list("0-3,8,10-11"), Optional(ElementsAre(0, 1, 2, 3, 8, 10, 11)));
  EXPECT_THAT(parse_cpu_list("5,1-2,2"), Optional(ElementsAre(1, 2, 5)));
  EXPECT_THAT(parse_cpu_list(""), Optional(ElementsAre()));
  for (const char* text : {"a", "1-", "3-1", "-1", "1;2", "0-99999999", "1 2"})
    EXPECT_FALSE(parse_cpu_list(text)) << text;
  EXPECT_EQ(cpu_list({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
  EXPECT_EQ(cpu_list({}), "");
}

}  // namespace
}  // namespace assay::platform
