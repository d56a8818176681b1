#include "assay/tune/search/gaussian_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace assay::tune {
namespace {

using testing::DoubleNear;

Hyperparameters plain() {
  Hyperparameters out;
  out.lengths = {0.5};
  out.scale = 0.8;
  out.slope = 1e-9;
  out.noise = 0.3;
  return out;
}

/// Matern 5/2 at the distance r.
double matern(double r) {
  return (1 + std::sqrt(5.0) * r + 5 * r * r / 3) * std::exp(-std::sqrt(5.0) * r);
}

TEST(GaussianProcess, OneObservationIsTheMeanEverywhereAndLeavesItsNoise) {
  // The mean is unknown, so that it becomes y. With k = s^2 m(r), K = s^2 + n^2 (one number):
  // variance = s^2 - k^2/K + (1 - k/K)^2 K = s^2 + K - 2k.
  const GaussianProcess process(plain(), {{{0.2}, 3.0, 1}});
  const auto found = process.predict({{0.2}, {0.7}, {50.0}});
  const double scale = 0.64;
  const double total = 0.64 + 0.09;
  for (const auto& prediction : found) EXPECT_NEAR(prediction.mean, 3.0, 1e-9);
  EXPECT_NEAR(found[0].variance, scale + total - 2 * scale, 1e-6);
  EXPECT_NEAR(found[1].variance, scale + total - 2 * scale * matern(1), 1e-6);
  EXPECT_NEAR(found[2].variance, scale + total, 1e-6);
}

TEST(GaussianProcess, TwoObservationsFollowTheClosedForm) {
  // By symmetry the mean is (y1 + y2) / 2, the residuals are -d and d with d = 1/2, and (K^-1 r) = r / (a - b) for
  // K = [[a, b], [b, a]]. At the first point the mean is 2.5 - d (s^2 - b) / (a - b).
  const GaussianProcess process(plain(), {{{0.0}, 2.0, 1}, {{0.5}, 3.0, 1}});
  const double a = 0.64 + 0.09;
  const double b = 0.64 * matern(1);
  const auto found = process.predict({{0.0}, {0.25}, {0.5}});
  EXPECT_NEAR(process.mean(), 2.5, 1e-9);
  EXPECT_NEAR(found[0].mean, 2.5 - 0.5 * (0.64 - b) / (a - b), 1e-6);
  EXPECT_NEAR(found[1].mean, 2.5, 1e-9);
  EXPECT_NEAR(found[2].mean, 2.5 + 0.5 * (0.64 - b) / (a - b), 1e-6);
}

TEST(GaussianProcess, AValueOfMoreEvaluationsHasLessNoise) {
  // n^2/9: from one observation, variance at its point = s^2 + K - 2 s^2 = n^2/9.
  const GaussianProcess process(plain(), {{{0.0}, 1.0, 9}});
  EXPECT_NEAR(process.predict({{0.0}})[0].variance, 0.01, 1e-6);
}

TEST(GaussianProcess, LeavingOneOutIsFittingTheOthers) {
  const std::vector<Observation> all{{{0.0}, 1.0, 1}, {{0.3}, 1.4, 1}, {{0.9}, 0.7, 1}, {{0.5}, 2.0, 1}};
  // With the mean given by all, so that it is compared where the mean hardly matters: near to others.
  auto narrow = plain();
  narrow.scale = 30;
  const auto left = GaussianProcess(narrow, all).left_out();
  auto others = all;
  others.erase(others.begin() + 1);
  const auto expected = GaussianProcess(narrow, others).predict({{0.3}})[0];
  EXPECT_NEAR(left[1].mean, expected.mean, 0.05);
}

TEST(GaussianProcess, CovarianceHasThePredictionsVariancesOnItsDiagonal) {
  const GaussianProcess process(plain(), {{{0.0}, 1.0, 1}, {{0.4}, 2.0, 2}});
  const std::vector<std::vector<double>> points{{0.1}, {0.4}, {0.8}};
  const auto covariance = process.covariance(points);
  const auto found = process.predict(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(covariance[i][i], found[i].variance, 1e-12);
    for (std::size_t j = 0; j < points.size(); ++j) EXPECT_NEAR(covariance[i][j], covariance[j][i], 1e-12);
  }
}

TEST(GaussianProcess, ADisturbedValueIsDoubtedAndARepeatedOneIsNot) {
  std::vector<Observation> smooth;
  for (int i = 0; i < 20; ++i) smooth.push_back({{i / 20.0}, 0.3 * std::sin(i / 5.0), 1});
  auto disturbed = smooth;
  disturbed[10].value += 0.5;
  Prior prior{plain(), {0.7}};
  prior.medians.noise = 0.02;
  const auto process = fit_despite_outliers(disturbed, prior.medians, prior);
  ASSERT_EQ(process.doubt().size(), 20u);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(process.doubt()[i] > 0, i == 10) << i;
  EXPECT_THAT(process.predict({{0.5}})[0].mean, DoubleNear(smooth[10].value, 0.05));
}

TEST(ExpectedImprovement, IsItsClosedForm) {
  // At z = 0 it is deviation / sqrt(2 pi); at z = 1 it is deviation (Phi(1) + phi(1)) = .8413447 + .2419707.
  EXPECT_NEAR(expected_improvement(0, 2, 0), 2 * 0.3989422804, 1e-9);
  EXPECT_NEAR(expected_improvement(0, 1, 1), 0.8413447461 + 0.2419707245, 1e-9);
  // At z = -2: deviation (phi(2) - 2 Phi(-2)) = .0539909665 - 2 * .0227501319.
  EXPECT_NEAR(expected_improvement(2, 1, 0), 0.0539909665 - 2 * 0.0227501319, 1e-9);
  EXPECT_EQ(expected_improvement(1, 0, 3), 2);
  EXPECT_EQ(expected_improvement(3, 0, 1), 0);
}

}  // namespace
}  // namespace assay::tune
