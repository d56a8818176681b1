#include "assay/stats/quantile.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::stats {
namespace {

const std::vector<double> kValues{3.1, 1.4, 1.5, 9.2, 6.5, 3.5, 8.9, 7.9, 3.2, 3.8};

// numpy 2.4: repr(float(numpy.quantile(kValues, p))), whose default method is "linear" (type 7).
TEST(Quantile, EqualsNumpysDefault) {
  EXPECT_DOUBLE_EQ(quantile(kValues, 0), 1.4);
  EXPECT_DOUBLE_EQ(quantile(kValues, 0.01), 1.4089999999999998);
  EXPECT_DOUBLE_EQ(quantile(kValues, 0.1), 1.49);
  EXPECT_DOUBLE_EQ(quantile(kValues, 0.25), 3.125);
  EXPECT_DOUBLE_EQ(quantile(kValues, 0.5), 3.65);
  EXPECT_DOUBLE_EQ(quantile(kValues, 0.9), 8.93);
  EXPECT_DOUBLE_EQ(quantile(kValues, 0.99), 9.173);
  EXPECT_DOUBLE_EQ(quantile(kValues, 1), 9.2);
}

// Type 7 by hand: position p*(n-1) = 0.9*2 = 1.8 between 7 and 12, hence 7 + 0.8*5 = 11; p99 is 7 + 0.98*5 = 11.9.
TEST(Quantile, InterpolatesLinearlyBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(quantile({12, 7, 3}, 0.9), 11);
  EXPECT_DOUBLE_EQ(quantile({12, 7, 3}, 0.99), 11.9);
}

TEST(Quantile, OfOneValueIsThatValue) {
  for (const double p : {0.0, 0.5, 0.99, 1.0}) EXPECT_EQ(quantile({4.5}, p), 4.5);
}

TEST(Quantile, OfSortedValuesIsTheSame) {
  auto sorted = kValues;
  std::sort(sorted.begin(), sorted.end());
  for (const double p : {0.0, 0.3, 0.9, 1.0}) EXPECT_EQ(quantile_sorted(sorted, p), quantile(kValues, p));
}

TEST(Median, IsTheMiddleValueOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({5, 1, 3, 4}), 3.5);
}

TEST(QuantileDeathTest, OfNothingIsAProgrammersMistake) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(quantile({}, 0.5), "internal error");
  EXPECT_DEATH(quantile({1}, 1.5), "internal error");
}

}  // namespace
}  // namespace assay::stats
