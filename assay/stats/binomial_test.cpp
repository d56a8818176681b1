#include "assay/stats/binomial.hpp"

#include <gtest/gtest.h>

namespace {

using assay::stats::binomial_at_most;
using assay::stats::least_for_quantile;
using assay::stats::quantile_ranks;

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

}  // namespace
