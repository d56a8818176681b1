#include "assay/stats/difference.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::stats {
namespace {

const std::vector<double> kA{2, 4, 4.5, 3, 7, 6};
const std::vector<double> kB{5, 9, 6, 8.5, 7.5};

// By hand: means 53/12 and 7.2, variances 413/120 and 2.825 over 6 and 5; Welch-Satterthwaite for the degrees.
TEST(Difference, OfWelchEqualsHandArithmetic) {
  const auto d = welch(kA, kB).value();
  const double a = 413.0 / 120 / 6;
  const double b = 2.825 / 5;
  EXPECT_DOUBLE_EQ(d.estimate, 7.2 - 53.0 / 12);
  EXPECT_DOUBLE_EQ(d.standard_error, std::sqrt(a + b));
  EXPECT_NEAR(d.degrees, (a + b) * (a + b) / (a * a / 5 + b * b / 4), 1e-12);
}

// Student's distribution with one degree of freedom is Cauchy's: P(|T| > 1) = 1/2, quantile(3/4) = 1.
TEST(Difference, OfCauchysDistributionIsKnownInClosedForm) {
  const Difference d{2, 2, 1};
  EXPECT_NEAR(p_value(d), 0.5, 1e-12);
  EXPECT_NEAR(interval_of(d, 0.5).low, 0, 1e-12);
  EXPECT_NEAR(interval_of(d, 0.5).high, 4, 1e-12);
  EXPECT_NEAR(detectable(d, 0.5, 0.75), 4, 1e-12);
}

TEST(Difference, WithoutSpreadIsCertain) {
  EXPECT_EQ(p_value({0.1, 0, 3}), 0);
  EXPECT_EQ(p_value({0, 0, 3}), 1);
}

TEST(Difference, OfPairsIsTheirMean) {
  const auto d = paired({1, 2, 3, 6}).value();
  EXPECT_DOUBLE_EQ(d.estimate, 3);
  EXPECT_DOUBLE_EQ(d.standard_error, std::sqrt(14.0 / 3 / 4));
  EXPECT_EQ(d.degrees, 3);
}

TEST(Difference, OfTooFewValuesIsNull) {
  EXPECT_FALSE(welch({1}, {1, 2}).has_value());
  EXPECT_FALSE(paired({1}).has_value());
  EXPECT_FALSE(with_covariate({{1, 1}, {2, 2}}, {{1, 1}, {2, 2}, {3, 3}}).has_value());
  EXPECT_FALSE(with_covariate({{1, 1}, {2, 1}, {3, 1}}, {{1, 2}, {2, 2}, {3, 2}}).has_value());
}

// y = 10 + 2 x on one side, 13 + 2 x on the other, at quite different x: the difference is 3 and nothing is left over.
TEST(Difference, WithACovariateIsTakenAtTheSameCovariate) {
  const auto fit = with_covariate({{12, 1}, {14, 2}, {16, 3}}, {{23, 5}, {25, 6}, {29, 8}}).value();
  EXPECT_NEAR(fit.difference.estimate, 3, 1e-12);
  EXPECT_NEAR(fit.difference.standard_error, 0, 1e-6);
  EXPECT_NEAR(fit.slope, 2, 1e-12);
  EXPECT_NEAR(fit.explained, 1, 1e-12);
  EXPECT_EQ(fit.difference.degrees, 3);
}

// Sorted .01 .02 .03 .04 times 4 3 2 1 gives .04 .06 .06 .04, made monotone: .04 .06 .06 .06.
TEST(Holm, AdjustsInStepsAndKeepsTheOrderGiven) {
  const auto p = holm({0.04, 0.01, 0.03, 0.02});
  EXPECT_DOUBLE_EQ(p[1], 0.04);
  EXPECT_DOUBLE_EQ(p[3], 0.06);
  EXPECT_DOUBLE_EQ(p[2], 0.06);
  EXPECT_DOUBLE_EQ(p[0], 0.06);
  EXPECT_EQ(holm({0.9, 0.8}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm({}).empty());
}

}  // namespace
}  // namespace assay::stats
