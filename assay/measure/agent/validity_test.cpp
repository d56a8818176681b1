#include "assay/measure/agent/validity.hpp"

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

TEST(Validity, the_probe_of_another_instance_is_no_neighbour) {
  auto rank = quiet();
  rank.disturbance.other_cpu_ns = kSecond;
  rank.disturbance.wait_ns = kSecond / 10;
  auto other = quiet();
  other.disturbance.cpu_ns = kSecond / 2;
  other.disturbance.assay_cpu_ns = kSecond / 2;
  EXPECT_TRUE(judge({rank, other}).trusted);
}

TEST(Validity, an_instance_on_other_cpus_hides_no_neighbour) {
  auto rank = quiet();
  rank.cpus = {0, 1};
  rank.disturbance.other_cpu_ns = kSecond;
  rank.disturbance.wait_ns = kSecond / 10;
  auto other = quiet();
  other.cpus = {2, 3};
  other.disturbance.cpu_ns = 2 * kSecond;
  EXPECT_THAT(codes({rank, other}), testing::ElementsAre("neighbours"));
  EXPECT_THAT(codes({other, rank}), testing::ElementsAre("neighbours"));
  EXPECT_THAT(disturbed_cpus({other, rank}, {}), testing::ElementsAre(0, 1));
  other.cpus = {1, 2};  // it shares one, so what others used cannot be told from what it did
  EXPECT_TRUE(judge({rank, other}).trusted);
}

TEST(Validity, where_waiting_is_not_known_only_full_cpus_are_disturbed) {
  auto rank = quiet();
  rank.disturbance.wait_ns.reset();
  rank.disturbance.cpu_ns = kSecond;  // of 4 s on 2 CPUs
  rank.disturbance.other_cpu_ns = kSecond;
  EXPECT_TRUE(judge({rank}).trusted);
  rank.disturbance.other_cpu_ns = 3 * kSecond;
  EXPECT_THAT(codes({rank}), testing::ElementsAre("neighbours"));
}

TEST(Validity, what_the_hypervisor_took_does_not_hide_neighbours) {
  auto rank = quiet();
  rank.disturbance.wait_ns.reset();
  rank.disturbance.cpu_ns = kSecond;  // of 4 s on 2 CPUs
  rank.disturbance.other_cpu_ns = 2 * kSecond;
  rank.disturbance.steal_ns = kSecond / 2;  // 3.5 of 4 s: a CPU was free
  EXPECT_THAT(codes({rank}), testing::ElementsAre("steal"));
  rank.disturbance.steal_ns = kSecond;
  EXPECT_THAT(codes({rank}), testing::UnorderedElementsAre("steal", "neighbours"));
}

RankResult busy_threads(std::int64_t active, std::int64_t cpus, double cpu_over_wall) {
  auto rank = quiet();
  rank.disturbance.cpus = cpus;
  rank.disturbance.active_threads = active;
  rank.disturbance.measured_ns = 2 * kSecond;
  rank.disturbance.cpu_ns = static_cast<std::int64_t>(cpu_over_wall * 2e9);
  return rank;
}

TEST(Validity, more_threads_at_work_than_cpus_are_told_and_measured_only_once) {
  const auto validity = judge({busy_threads(2, 1, 1.0)});
  ASSERT_EQ(validity.reasons.size(), 1u);
  EXPECT_EQ(validity.reasons[0].message,
            "2 threads were busy on 1 CPU: CPU time over wall time was 1.00; ask for at most 1 (intra_op, inter_op)");
  EXPECT_TRUE(validity.trusted);
  EXPECT_FALSE(is_passing(validity));
}

TEST(Validity, threads_that_fit_or_are_not_in_each_others_way_are_no_reason) {
  EXPECT_TRUE(codes({busy_threads(2, 2, 2.0)}).empty());
  EXPECT_TRUE(codes({busy_threads(1, 1, 1.0)}).empty());
  // Three threads that take turns on two CPUs and use both fully: 3 is no more than 2.6 + .5.
  EXPECT_TRUE(codes({busy_threads(3, 2, 2.6)}).empty());
  // Three threads that were each at work for a third of the time: CPUs were free.
  EXPECT_TRUE(codes({busy_threads(3, 2, 1.1)}).empty());
  auto unknown = busy_threads(2, 1, 1.0);
  unknown.disturbance.active_threads.reset();
  EXPECT_TRUE(codes({unknown}).empty());
}

TEST(Validity, a_quota_counts_as_so_many_cpus) {
  auto rank = busy_threads(2, 4, 1.0);
  EXPECT_TRUE(codes({rank}).empty());
  rank.disturbance.quota_cpus = 1;
  EXPECT_THAT(judge({rank}).reasons.at(0).message, testing::HasSubstr("busy on a quota of 1 of 4 CPUs"));
  rank.disturbance.quota_cpus = 8;
  EXPECT_TRUE(codes({rank}).empty());
}

TEST(Validity, instances_are_oversubscribed_together_on_the_union_of_their_cpus) {
  const auto one = busy_threads(2, 2, 1.0);  // each fits alone; four threads share two CPUs
  EXPECT_THAT(judge({one, one}).reasons.at(0).message,
              testing::HasSubstr("4 threads of 2 processes were busy on 2 CPUs"));
  auto first = busy_threads(2, 2, 2.0);
  auto second = first;
  first.cpus = {0, 1};
  second.cpus = {2, 3};
  EXPECT_TRUE(codes({first, second}).empty());
}

TEST(Validity, a_quota_stops_the_probe_too_so_it_tells_nothing_of_the_host) {
  auto rank = quiet();
  for (int i = 0; i < 8; ++i) rank.slices.push_back({i, 0, 0, 0, false, i < 4 ? 1'000'000 : 3'000'000});
  rank.disturbance.throttled_ns = kSecond;
  const auto validity = judge({rank});
  EXPECT_THAT(codes({rank}), testing::ElementsAre("throttled"));
  EXPECT_TRUE(validity.trusted);
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
