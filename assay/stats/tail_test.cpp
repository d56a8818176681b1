#include "assay/stats/tail.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace assay::stats {
namespace {

/// P(Bin(n, p) <= k) by summing its terms: the oracle of this file.
double binomial_sum(int k, int n, double p) {
  double sum = 0;
  for (int i = 0; i <= k; ++i) {
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) + i * std::log(p) +
                    (n - i) * std::log1p(-p));
  }
  return sum;
}

/// 1, 2, …, n: the value at rank k is k.
std::vector<double> ranks(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

// p^n + n (1 - p) p^(n - 1) <= .01. For p90: .9^63 (1 + 63/9) = .01048 and .9^64 (1 + 64/9) = .00956. For p95:
// .95^129 (1 + 129/19) = .01042 and .95^130 (1 + 130/19) = .00996. For p99: .99^661 (1 + 661/99) = .010001 and
// .99^662 (1 + 662/99) = .009914.
TEST(Tail, AQuantileNeedsSoManySamplesThatTheSecondLargestExceedsIt) {
  EXPECT_EQ(samples_for_quantile(0.90), 64U);
  EXPECT_EQ(samples_for_quantile(0.95), 130U);
  EXPECT_EQ(samples_for_quantile(0.99), 662U);
}

TEST(Tail, TheNumberOfSamplesIsTheSmallestByTheBinomial) {
  for (const double p : {0.6, 0.75, 0.9, 0.95, 0.99}) {
    const auto n = static_cast<int>(samples_for_quantile(p));
    EXPECT_GE(binomial_sum(n - 2, n, p), 0.99) << p;
    EXPECT_LT(binomial_sum(n - 3, n - 1, p), 0.99) << p;
  }
}

TEST(Tail, WithOneSampleTooFewThereIsNoInterval) {
  EXPECT_FALSE(quantile_interval_sorted(ranks(63), 0.9));
  EXPECT_TRUE(quantile_interval_sorted(ranks(64), 0.9));
  EXPECT_FALSE(quantile_interval_sorted(ranks(661), 0.99));
  EXPECT_TRUE(quantile_interval_sorted(ranks(662), 0.99));
  EXPECT_FALSE(quantile_interval_sorted({}, 0.9));
}

TEST(Tail, WithJustEnoughSamplesTheUpperEndIsTheSecondLargest) {
  EXPECT_EQ(quantile_interval_sorted(ranks(64), 0.9)->high, 63);
  EXPECT_EQ(quantile_interval_sorted(ranks(130), 0.95)->high, 129);
  EXPECT_EQ(quantile_interval_sorted(ranks(662), 0.99)->high, 661);
}

// The upper end is the smallest u with P(Bin(n, p) <= u - 1) >= .99, the lower one the largest l with
// P(Bin(n, p) <= l - 1) <= .01.
TEST(Tail, EndsAreTheNearestThatHoldWith99Percent) {
  for (const double p : {0.9, 0.95, 0.99}) {
    for (const int n : {662, 700, 1000, 2345}) {
      const auto interval = quantile_interval_sorted(ranks(n), p);
      ASSERT_TRUE(interval);
      const auto low = static_cast<int>(interval->low);
      const auto high = static_cast<int>(interval->high);
      EXPECT_GE(binomial_sum(high - 1, n, p), 0.99) << n << " " << p;
      EXPECT_LT(binomial_sum(high - 2, n, p), 0.99) << n << " " << p;
      EXPECT_LE(binomial_sum(low - 1, n, p), 0.01) << n << " " << p;
      EXPECT_GT(binomial_sum(low, n, p), 0.01) << n << " " << p;
    }
  }
}

// Each end fails in at most 1 % of draws, so that both hold in at least 98 %. 4,000 draws: the standard error of a
// share of .98 is .0022; six of them are .013.
TEST(Tail, TheIntervalCoversTheQuantileOfADistribution) {
  std::mt19937_64 random(23);
  std::exponential_distribution<double> times(1);
  const double quantile = -std::log(0.1);
  int covered = 0;
  for (int i = 0; i < 4000; ++i) {
    std::vector<double> values(100);
    for (auto& value : values) value = times(random);
    std::sort(values.begin(), values.end());
    const auto interval = quantile_interval_sorted(values, 0.9);
    covered += interval->low <= quantile && quantile <= interval->high ? 1 : 0;
  }
  EXPECT_GE(covered, 4000 * 0.967);
}

// None of 458 beyond: .99^458 = .01002; of 459: .00992. One of 661 and of 662: see above.
TEST(Tail, ALimitIsProvedByTheBinomialBound) {
  EXPECT_EQ(judge_tail(458, 0, 0.01), Kept::undecided);
  EXPECT_EQ(judge_tail(459, 0, 0.01), Kept::proved);
  EXPECT_EQ(judge_tail(661, 1, 0.01), Kept::undecided);
  EXPECT_EQ(judge_tail(662, 1, 0.01), Kept::proved);
  EXPECT_EQ(judge_tail(0, 0, 0.01), Kept::undecided);
}

// P(Bin(30, .01) >= 2) = 1 - .99^30 - 30 x .01 x .99^29 = .0361; >= 3: .0361 - 435 x .0001 x .99^28 = .00332.
TEST(Tail, ALimitIsBrokenWhereSoManyBeyondItAreNotChance) {
  EXPECT_EQ(judge_tail(30, 2, 0.01), Kept::undecided);
  EXPECT_EQ(judge_tail(30, 3, 0.01), Kept::broken);
  EXPECT_EQ(judge_tail(30, 30, 0.01), Kept::broken);
}

TEST(Tail, AShareNearTheLimitIsUndecided) {
  EXPECT_EQ(judge_tail(1000, 10, 0.01), Kept::undecided);
}

}  // namespace
}  // namespace assay::stats
