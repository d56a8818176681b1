#include "assay/predict/calibration/bounded_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::predict {
namespace {

TEST(BoundedLeastSquares, FindsWhatWasPlanted) {
  // y = a exp(-b x) without noise: only a = 2, b = 0.7 leaves nothing.
  const Residuals left = [](const std::vector<double>& c) {
    std::vector<double> out;
    for (int x = 0; x < 8; ++x) out.push_back(c[0] * std::exp(-c[1] * x) - 2 * std::exp(-0.7 * x));
    return out;
  };
  const auto found = bounded_least_squares(left, {{1, 0, 10}, {0.1, 0, 10}});
  EXPECT_NEAR(found[0], 2, 1e-4);
  EXPECT_NEAR(found[1], 0.7, 1e-4);
}

TEST(BoundedLeastSquares, HoldsAConstantAtItsBoundAndFindsTheOther) {
  // (x - 3)^2 + (x + y - 4)^2 with x <= 2: at x = 2 the rest is least at y = 2.
  const Residuals left = [](const std::vector<double>& c) { return std::vector<double>{c[0] - 3, c[0] + c[1] - 4}; };
  const auto found = bounded_least_squares(left, {{0, 0, 2}, {0, -10, 10}});
  EXPECT_NEAR(found[0], 2, 1e-9);
  EXPECT_NEAR(found[1], 2, 1e-4);
}

TEST(BoundedLeastSquares, LeavesAloneWhatNoObservationTells) {
  const Residuals left = [](const std::vector<double>& c) { return std::vector<double>{c[0] - 1}; };
  const auto found = bounded_least_squares(left, {{0, -5, 5}, {0.25, 0, 1}});
  EXPECT_NEAR(found[0], 1, 1e-6);
  EXPECT_DOUBLE_EQ(found[1], 0.25);
}

TEST(BoundedLeastSquares, FollowsANarrowValley) {
  // Rosenbrock's function as residuals: 10 (y - x^2) and 1 - x vanish at (1, 1) alone.
  const Residuals left = [](const std::vector<double>& c) {
    return std::vector<double>{10 * (c[1] - c[0] * c[0]), 1 - c[0]};
  };
  const auto found = bounded_least_squares(left, {{-1.2, -5, 5}, {1, -5, 5}});
  EXPECT_NEAR(found[0], 1, 1e-3);
  EXPECT_NEAR(found[1], 1, 2e-3);
}

}  // namespace
}  // namespace assay::predict
