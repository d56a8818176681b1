#include "assay/stats/interval.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "assay/stats/binomial.hpp"

namespace assay::stats {
namespace {

__extension__ typedef unsigned __int128 Wide;

/// Sum of the binomial coefficients C(n, 0) … C(n, k): 2^n times P(Bin(n, 1/2) <= k), exactly, for n up to 100.
Wide coefficients_up_to(unsigned n, unsigned k) {
  std::vector<Wide> row{1};  // of Pascal's triangle
  for (unsigned i = 1; i <= n; ++i) {
    std::vector<Wide> next(i + 1, 1);
    for (unsigned j = 1; j < i; ++j) next[j] = row[j - 1] + row[j];
    row = next;
  }
  Wide sum = 0;
  for (unsigned j = 0; j <= k; ++j) sum += row[j];
  return sum;
}

/// The largest l with P(Bin(n, 1/2) <= l-1) <= 1/40, in integers: 40 * sum <= 2^n.
std::size_t exact_rank_at_95(unsigned n) {
  std::size_t rank = 0;
  while (rank < n && 40 * coefficients_up_to(n, static_cast<unsigned>(rank)) <= Wide{1} << n) ++rank;
  return rank;
}

/// P(X(l) <= median <= X(n+1-l)) = 1 - 2 P(Bin(n, 1/2) <= l-1) for continuous values.
double coverage(unsigned n, std::size_t rank) {
  return 1 - 2 * static_cast<double>(coefficients_up_to(n, static_cast<unsigned>(rank - 1))) /
                 std::ldexp(1.0, static_cast<int>(n));
}

TEST(MedianInterval, RanksEqualExactBinomialArithmeticForOneToHundredValues) {
  for (unsigned n = 1; n <= 100; ++n) EXPECT_EQ(median_interval_rank(n, 0.95), exact_rank_at_95(n)) << "n = " << n;
}

// The published table of ranks for the sign test at 5 %, two-sided.
TEST(MedianInterval, RanksEqualThePublishedTable) {
  EXPECT_EQ(median_interval_rank(6, 0.95), 1u);
  EXPECT_EQ(median_interval_rank(9, 0.95), 2u);
  EXPECT_EQ(median_interval_rank(20, 0.95), 6u);
  EXPECT_EQ(median_interval_rank(30, 0.95), 10u);
}

TEST(MedianInterval, CoversTheMedianAsOftenAsItSays) {
  EXPECT_NEAR(coverage(10, median_interval_rank(10, 0.95)), 0.979, 5e-4);  // 1 - 2 * 11/1024
  EXPECT_NEAR(coverage(30, median_interval_rank(30, 0.95)), 0.957, 5e-4);
  EXPECT_NEAR(coverage(100, median_interval_rank(100, 0.95)), 0.965, 5e-4);
  for (unsigned n = 6; n <= 100; ++n) EXPECT_GE(coverage(n, median_interval_rank(n, 0.95)), 0.95) << "n = " << n;
}

TEST(MedianInterval, IsAsNarrowAsItsConfidenceAllows) {
  for (unsigned n = 6; n <= 100; ++n) EXPECT_LT(coverage(n, median_interval_rank(n, 0.95) + 1), 0.95) << "n = " << n;
}

TEST(MedianInterval, IsNullBelowSixValuesAtNinetyFivePercent) {
  for (std::size_t n = 0; n < 6; ++n) {
    EXPECT_EQ(median_interval_rank(n, 0.95), 0u) << n;
    EXPECT_FALSE(median_interval(std::vector<double>(n, 1.0)).has_value()) << n;
  }
  EXPECT_TRUE(median_interval(std::vector<double>(6, 1.0)).has_value());
}

// With alpha = 0.05 split over three looks, each side has 1/120, and 2^-n <= 1/120 needs n = 7.
TEST(MedianInterval, WithAlphaSplitOverThreeLooksNeedsSevenValues) {
  EXPECT_EQ(median_interval_rank(6, 1 - 0.05 / 3), 0u);
  EXPECT_EQ(median_interval_rank(7, 1 - 0.05 / 3), 1u);
}

// P(Bin(n, 1/2) <= 0) = 2^-n meets a tail of 2^-n exactly; rounding must not lose the rank.
TEST(MedianInterval, TakesARankWhoseTailEqualsTheAllowedOne) {
  for (int n = 2; n <= 40; ++n) {
    EXPECT_GE(median_interval_rank(static_cast<std::size_t>(n), 1 - std::ldexp(1.0, 1 - n)), 1u) << "n = " << n;
  }
  EXPECT_EQ(median_interval_rank(10, 1 - 2 * 11 / 1024.0), 2u);
  EXPECT_EQ(median_interval_rank(10, 1 - 2 * 56 / 1024.0), 3u);
}

TEST(MedianInterval, GivesOrderStatisticsOfUnsortedValues) {
  const auto interval = median_interval({10, 1, 9, 2, 8, 3, 7, 4, 6, 5});  // n = 10, rank 2
  ASSERT_TRUE(interval.has_value());
  EXPECT_EQ(interval->low, 2);
  EXPECT_EQ(interval->high, 9);
}

}  // namespace
TEST(Binomial, IsTheSumOfItsTerms) {
  // Bin(5, 1/4): (3/4)^5 + 5 (1/4) (3/4)^4 = 648 / 1024
  EXPECT_NEAR(binomial_at_most(5, 1, 0.25), 648.0 / 1024, 1e-12);
  EXPECT_EQ(binomial_at_most(5, -1, 0.25), 0);
  EXPECT_EQ(binomial_at_most(5, 5, 0.25), 1);
}

TEST(Binomial, AQuantileNeedsAsManyValuesAsLoadGenPublishes) {
  // MLPerf's rules of early stopping: 64, 130 and 662 queries for p90, p95 and p99 at 99 %.
  EXPECT_EQ(least_for_quantile(0.90, 0.99), 64U);
  EXPECT_EQ(least_for_quantile(0.95, 0.99), 130U);
  EXPECT_EQ(least_for_quantile(0.99, 0.99), 662U);
}

TEST(Binomial, RanksOfAMedianAreThoseOfTheTables) {
  // n = 10 at 95 %: P(Bin(10, 1/2) <= 1) = 11/1024 <= .025 < 56/1024, so the second from each end.
  const auto ranks = quantile_ranks(10, 0.5, 0.95);
  EXPECT_EQ(ranks.low, 2U);
  EXPECT_EQ(ranks.high, 9U);
}

TEST(Binomial, AHighQuantileOfFewValuesHasNoUpperBound) {
  // .99^100 = .366 > .025: the largest of 100 values says little of p99.
  EXPECT_FALSE(quantile_ranks(100, 0.99, 0.95).high.has_value());
  // .99^368 = .0248 <= .025 < .99^367
  EXPECT_EQ(quantile_ranks(368, 0.99, 0.95).high, 368U);
  EXPECT_FALSE(quantile_ranks(367, 0.99, 0.95).high.has_value());
}

TEST(Binomial, ValuesThatComeInClustersCountLess) {
  // Each value four times is as 10 values: ranks are those of 10, four times as far from the ends.
  const auto ranks = quantile_ranks(40, 0.5, 0.95, 4);
  ASSERT_TRUE(ranks.low && ranks.high);
  EXPECT_LE(*ranks.low, 9U);
  EXPECT_GE(*ranks.low, 5U);
  EXPECT_EQ(*ranks.low + *ranks.high, 41U);
}

}  // namespace assay::stats
