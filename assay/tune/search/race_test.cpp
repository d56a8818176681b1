#include "assay/tune/search/race.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::tune {
namespace {

TEST(Beliefs, APairMovesTheDifferenceByItsShareOfTheVariance) {
  // Independent means 0 and 0 with variance 1 each: the difference has variance 2, a pair 2 * .5^2 = .5. After a ratio
  // of 1 the estimate is 2 / 2.5 of it and the variance 2 * .5 / 2.5.
  Beliefs beliefs({0, 0}, {{1, 0}, {0, 1}}, 0.5, 20);
  beliefs.add(0, 1, 1.0);
  const auto difference = beliefs.difference(0, 1);
  EXPECT_NEAR(difference.estimate, 0.8, 1e-12);
  EXPECT_NEAR(difference.standard_error, std::sqrt(0.4), 1e-12);
  EXPECT_EQ(difference.degrees, 20);
}

TEST(Beliefs, ADisturbedPairCountsLittle) {
  // Expected deviation of the ratio: sqrt(2 * .0004 + 2 * .0004) = .04. A surprise of 1 is 25 of them.
  const std::vector<std::vector<double>> covariance{{0.0004, 0}, {0, 0.0004}};
  Beliefs beliefs({0, 0}, covariance, 0.02, 20);
  beliefs.add(0, 1, 1.0);
  // At most three deviations count: half (the share of the variance) of 3 * .04.
  EXPECT_LE(beliefs.difference(0, 1).estimate, 0.06 + 1e-12);
}

TEST(Beliefs, PairsShowTheirOwnNoise) {
  Beliefs alike({0, 0}, {{1, 0}, {0, 1}}, 0.2, 20);
  Beliefs apart = alike;
  for (const double ratio : {0.5, 0.5, 0.5, 0.5}) alike.add(0, 1, ratio);
  for (const double ratio : {0.1, 0.9, 0.2, 0.8}) apart.add(0, 1, ratio);
  EXPECT_LT(alike.difference(0, 1).standard_error, apart.difference(0, 1).standard_error);
}

TEST(Race, OnlyAProvenGainOfMoreThanOnePercentTakesTheLead) {
  // Student's 97.5 % quantile with 10 degrees is 2.228.
  EXPECT_TRUE(overtakes({-0.05, 0.05 / 2.3, 10}));
  EXPECT_FALSE(overtakes({-0.05, 0.05 / 2.1, 10}));
  EXPECT_FALSE(overtakes({-0.009, 0.0001, 10}));
  EXPECT_FALSE(overtakes({0.05, 0.0001, 10}));
}

}  // namespace
}  // namespace assay::tune
