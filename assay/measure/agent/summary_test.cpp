#include "assay/measure/agent/summary.hpp"

#include <gtest/gtest.h>

namespace assay::measure {
namespace {

RankResult rank_with(std::vector<std::int64_t> warmup, std::vector<std::int64_t> steady, std::int64_t begin,
                     std::int64_t end) {
  RankResult rank;
  rank.samples_ns = warmup;
  rank.samples_ns.insert(rank.samples_ns.end(), steady.begin(), steady.end());
  rank.slices.push_back({0, 0, begin, static_cast<std::int64_t>(warmup.size()), true, {}});
  rank.slices.push_back({1, begin, end, static_cast<std::int64_t>(steady.size()), false, {}});
  return rank;
}

Trial trial_of_batch(std::int64_t batch) {
  Trial trial;
  trial.workload.batch = batch;
  return trial;
}

TEST(Summary, warm_up_is_counted_but_not_summarised) {
  const auto summary = summarise({rank_with({1000, 900}, {100, 200, 300}, 0, 600)}, trial_of_batch(4)).summary;
  EXPECT_EQ(summary.n, 5);
  EXPECT_EQ(summary.steady_from, 2);
  EXPECT_EQ(summary.median_ns, 200);
  EXPECT_EQ(summary.steady_samples, 3);
  EXPECT_FALSE(summary.p90_ns);  // of 3 samples none is known to be above it
  // 3 steps of batch 4 in 600 ns
  EXPECT_DOUBLE_EQ(*summary.samples_per_second, 12 / 600e-9);
}

/// A run of n steps of 100, 200, … ns in another order than that: neighbours differ by 37 steps.
RankResult rank_of_ranks(std::int64_t n) {
  std::vector<std::int64_t> samples;
  for (std::int64_t i = 0; i < n; ++i) samples.push_back(100 * (i * 37 % n + 1));
  return rank_with({}, samples, 0, 100 * n * n);
}

TEST(Summary, a_quantile_needs_samples_enough_and_has_its_order_statistics) {
  const auto few = summarise({rank_of_ranks(63)}, trial_of_batch(1)).summary;
  EXPECT_EQ(few.steady_samples, 63);
  EXPECT_FALSE(few.p90_ns || few.p90_interval);
  const auto enough = summarise({rank_of_ranks(64)}, trial_of_batch(1)).summary;
  EXPECT_EQ(enough.p90_ns, 5770);  // type 7: 0.9 of the way from the 1st to the 64th is 56.7 steps of 100
  ASSERT_TRUE(enough.p90_interval);
  EXPECT_EQ(enough.p90_interval->high_ns, 6300);  // the second largest
  // The largest l with P(Bin(64, .9) <= l - 1) <= .01: P(<= 51) = .0099, P(<= 52) = .0236 (scipy.stats.binom).
  EXPECT_EQ(enough.p90_interval->low_ns, 5200);
  EXPECT_FALSE(enough.p99_ns || enough.p99_interval);
  EXPECT_TRUE(summarise({rank_of_ranks(662)}, trial_of_batch(1)).summary.p99_interval);
}

TEST(Summary, steady_samples_are_those_summarised) {
  const auto samples = steady_samples({rank_with({1000, 900}, {300, 100, 200}, 0, 600)}, trial_of_batch(4));
  EXPECT_EQ(samples, (std::vector<double>{100, 200, 300}));
}

TEST(Summary, throughput_of_instances_counts_only_the_time_in_which_all_run) {
  // One from 0 to 1000 ns with 10 steps, one from 500 to 1500 ns with 5: common from 500 to 1000, 5 + 2.5 steps.
  const auto a = rank_with({}, std::vector<std::int64_t>(10, 100), 0, 1000);
  const auto b = rank_with({}, std::vector<std::int64_t>(5, 200), 500, 1500);
  EXPECT_NEAR(*summarise({a, b}, trial_of_batch(1)).summary.samples_per_second, 7.5 / 500e-9, 1);
}

TEST(Summary, instances_that_never_run_together_have_no_throughput) {
  const auto a = rank_with({}, {100}, 0, 100);
  const auto b = rank_with({}, {100}, 200, 300);
  EXPECT_FALSE(summarise({a, b}, trial_of_batch(1)).summary.samples_per_second.has_value());
}

TEST(Summary, a_step_of_ranks_lasts_as_long_as_on_the_slowest) {
  // Clocks of two hosts, far apart. Steps of 100 and 300 ns on one, 200 and 150 on the other: together 200 and 300.
  auto trial = trial_of_batch(4);
  trial.placement.ranks = 2;
  const auto a = rank_with({999}, {100, 300}, 0, 400);
  const auto b = rank_with({5}, {200, 150}, 1'000'000, 1'000'350);
  const auto summary = summarise({a, b}, trial).summary;
  EXPECT_EQ(summary.n, 6);
  EXPECT_EQ(summary.steady_from, 1);
  EXPECT_EQ(summary.median_ns, 250);
  // Two steps in 500 ns, each of 4 samples on 2 ranks.
  EXPECT_DOUBLE_EQ(*summary.samples_per_second, 2 * 4 * 2 / 500e-9);
}

TEST(Summary, without_samples_every_figure_is_null) {
  const auto summary = summarise({RankResult{}}, trial_of_batch(1)).summary;
  EXPECT_EQ(summary.n, 0);
  EXPECT_FALSE(summary.median_ns.has_value());
  EXPECT_FALSE(summary.samples_per_second.has_value());
}

}  // namespace
}  // namespace assay::measure
