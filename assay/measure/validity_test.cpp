#include "assay/measure/validity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::measure {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

RankResult quiet() {
  RankResult rank;
  rank.disturbance.window_ns = 2 * kSecond;
  rank.disturbance.cpus = 2;
  rank.disturbance.steal_ns = 0;
  rank.disturbance.cpu_ns = 4 * kSecond;  // the workload itself keeps both CPUs busy
  rank.disturbance.wait_ns = 0;
  rank.disturbance.other_cpu_ns = 0;
  rank.disturbance.throttled_ns = 0;
  rank.disturbance.swap_bytes = 0;
  return rank;
}

std::vector<std::string> codes(const std::vector<RankResult>& ranks) {
  std::vector<std::string> out;
  for (const auto& reason : judge(ranks).reasons) out.push_back(reason.code);
  return out;
}

TEST(Validity, a_busy_workload_alone_is_trusted) {
  EXPECT_TRUE(judge({quiet()}).trusted);
}

TEST(Validity, absent_counters_say_nothing) {
  EXPECT_TRUE(judge({RankResult{}}).trusted);
}

TEST(Validity, steal_of_more_than_two_percent_of_the_cpus_is_a_reason) {
  auto rank = quiet();
  rank.disturbance.steal_ns = kSecond * 7 / 100;  // 1.75 % of 2 s on 2 CPUs
  EXPECT_TRUE(judge({rank}).trusted);
  rank.disturbance.steal_ns = kSecond * 9 / 100;  // 2.25 %
  EXPECT_THAT(codes({rank}), testing::ElementsAre("steal"));
}

TEST(Validity, ticks_cannot_be_judged_in_a_short_window) {
  auto rank = quiet();
  rank.disturbance.window_ns = kSecond / 10;
  rank.disturbance.steal_ns = kSecond / 100;
  EXPECT_TRUE(judge({rank}).trusted);
}

TEST(Validity, neighbours_disturb_only_where_the_worker_had_to_wait) {
  auto rank = quiet();
  rank.disturbance.other_cpu_ns = kSecond;
  EXPECT_TRUE(judge({rank}).trusted);
  rank.disturbance.wait_ns = kSecond / 10;
  EXPECT_THAT(codes({rank}), testing::ElementsAre("neighbours"));
}

TEST(Validity, another_instance_of_the_same_run_is_no_neighbour) {
  auto rank = quiet();
  rank.disturbance.other_cpu_ns = kSecond;
  rank.disturbance.wait_ns = kSecond / 10;
  auto other = quiet();
  other.disturbance.cpu_ns = kSecond;
  EXPECT_TRUE(judge({rank, other}).trusted);
}

TEST(Validity, the_partner_of_a_pair_is_no_neighbour) {
  auto rank = quiet();
  rank.disturbance.other_cpu_ns = kSecond;
  rank.disturbance.wait_ns = kSecond / 10;
  EXPECT_FALSE(judge({rank}).trusted);
  auto partner = quiet();
  partner.disturbance.cpu_ns = kSecond;
  EXPECT_TRUE(judge({rank}, {partner}).trusted);
}

TEST(Validity, a_quota_and_swapping_are_reasons) {
  auto rank = quiet();
  rank.disturbance.throttled_ns = kSecond / 10;
  rank.disturbance.swap_bytes = 4096;
  EXPECT_THAT(codes({rank}), testing::UnorderedElementsAre("throttled", "swap"));
}

TEST(Validity, a_host_that_changes_its_speed_is_seen_by_the_probe) {
  auto rank = quiet();
  for (int i = 0; i < 8; ++i) rank.slices.push_back({i, 0, 0, 0, false, i < 4 ? 1'000'000 : 1'300'000});
  EXPECT_THAT(codes({rank}), testing::ElementsAre("probe"));
  // One slow probe among many is an interrupt, not a phase.
  for (auto& slice : rank.slices) slice.probe_ns = 1'000'000;
  rank.slices[3].probe_ns = 9'000'000;
  EXPECT_TRUE(judge({rank}).trusted);
}

}  // namespace
}  // namespace assay::measure
