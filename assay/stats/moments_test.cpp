#include "assay/stats/moments.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::stats {
namespace {

const std::vector<double> kSeries{2, 4, 4.5, 3, 7, 6};

// By hand: the sum is 26.5 and the sum of squares 134.25, so the variance is (134.25 - 26.5^2/6)/5 = 413/120.
TEST(Moments, OfAShortSeriesEqualHandArithmetic) {
  EXPECT_DOUBLE_EQ(mean(kSeries), 26.5 / 6);
  EXPECT_DOUBLE_EQ(variance(kSeries).value(), 413.0 / 120);
}

// Five values around 1e9. Python's fractions.Fraction gives their variance exactly: 2.499995233051777e-06 (a standard
// deviation of 0.00158; the values are not evenly spaced in binary).
TEST(Moments, KeepTheVarianceOfSmallDifferencesBetweenLargeValues) {
  std::vector<double> values;
  for (const double offset : {-0.002, -0.001, 0.0, 0.001, 0.002}) values.push_back(1e9 + offset);
  EXPECT_DOUBLE_EQ(mean(values), 1e9);
  EXPECT_NEAR(variance(values).value(), 2.499995233051777e-06, 1e-12);

  // The planted bug: a mean of squares loses everything.
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  const double naive = (squares - sum * sum / 5) / 4;
  EXPECT_GT(std::fabs(naive / 2.5e-06 - 1), 0.5);
}

TEST(Moments, TheMeanOfManyLargeValuesKeepsItsDigits) {
  // One in four lies 1 above 1e15, so the mean is exactly 1e15 + 0.25, which a double there can hold only to 0.125.
  std::vector<double> values;
  for (int i = 0; i < 100'000; ++i) values.push_back(1e15 + (i % 4 == 0 ? 1 : 0));
  EXPECT_EQ(mean(values), 1e15 + 0.25);
}

TEST(Moments, OfEqualValuesHaveNoVariance) {
  EXPECT_EQ(variance({0.1, 0.1, 0.1}), 0.0);
}

TEST(Moments, OfTooFewValuesAreNull) {
  EXPECT_FALSE(variance({}).has_value());
  EXPECT_FALSE(variance({1}).has_value());
  EXPECT_FALSE(lag1_autocorrelation({1, 2}).has_value());
  EXPECT_FALSE(lag1_autocorrelation({3, 3, 3}).has_value());
}

// numpy: c = x - x.mean(); (c[1:] * c[:-1]).sum() / (c * c).sum()
TEST(Autocorrelation, EqualsTheTextbookFormula) {
  EXPECT_NEAR(lag1_autocorrelation(kSeries).value(), 0.07465698143664247, 1e-15);
}

// 1, -1, 1, …: n-1 products of -1 over n squares of 1.
TEST(Autocorrelation, OfAnAlternatingSeriesIsNearMinusOne) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(i % 2 == 0 ? 1 : -1);
  EXPECT_DOUBLE_EQ(lag1_autocorrelation(values).value(), -0.99);
}

}  // namespace
}  // namespace assay::stats
