#include "assay/model/least_squares.hpp"

#include <gtest/gtest.h>

#include <random>

namespace assay::model {
namespace {

/// The conditions of Karush, Kuhn and Tucker tell the minimum of a convex problem, whoever found it.
void expect_least(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, const Eigen::VectorXd& x) {
  const Eigen::VectorXd slope = a.transpose() * (a * x - b);
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const double scale = a.col(i).norm() * b.norm();
    EXPECT_GE(x(i), 0);
    if (x(i) > 0) {
      EXPECT_NEAR(slope(i), 0, 1e-7 * scale);
    } else {
      EXPECT_GE(slope(i), -1e-7 * scale);
    }
  }
}

TEST(NonNegativeLeastSquares, FindsWhatWasPlanted) {
  Eigen::MatrixXd a(4, 2);
  a << 1, 1, 1, 2, 1, 3, 1, 4;
  const Eigen::VectorXd planted = Eigen::Vector2d(3, 0.5);
  EXPECT_TRUE(non_negative_least_squares(a, a * planted).isApprox(planted, 1e-9));
}

TEST(NonNegativeLeastSquares, HoldsAtZeroWhatWouldBeNegative) {
  Eigen::MatrixXd a(3, 2);
  a << 1, 1, 1, 2, 1, 3;
  const Eigen::VectorXd falling = Eigen::Vector3d(3, 2, 1);
  const auto x = non_negative_least_squares(a, falling);
  EXPECT_NEAR(x(0), 2, 1e-9);  // the mean
  EXPECT_EQ(x(1), 0);
}

TEST(NonNegativeLeastSquares, IsLeastOnRandomProblemsOfAnyScale) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 200; ++trial) {
    Eigen::MatrixXd a = Eigen::MatrixXd::NullaryExpr(20, 7, [&] { return normal(random); });
    for (Eigen::Index column = 0; column < a.cols(); ++column)
      a.col(column) *= std::pow(10.0, 2.0 * double(column) - 6);
    const Eigen::VectorXd b = Eigen::VectorXd::NullaryExpr(20, [&] { return normal(random); });
    expect_least(a, b, non_negative_least_squares(a, b));
  }
}

TEST(NonNegativeLeastSquares, LivesWithColumnsThatAreTheSame) {
  Eigen::MatrixXd a(3, 2);
  a << 1, 1, 2, 2, 3, 3;
  const Eigen::VectorXd b = Eigen::Vector3d(2, 4, 6);
  EXPECT_TRUE((a * non_negative_least_squares(a, b)).isApprox(b, 1e-9));
}

}  // namespace
}  // namespace assay::model
