#include "assay/stats/change_points/e_divisive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace assay::stats {
namespace {

double mean_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (const double x : a) {
    for (const double y : b) sum += std::abs(x - y);
  }
  return sum / static_cast<double>(a.size() * b.size());
}

/// Over pairs of different values.
double mean_distance_within(std::span<const double> a) {
  const auto n = static_cast<double>(a.size());
  return a.size() < 2 ? 0 : mean_distance(a, a) * n / (n - 1);
}

/// Q by its definition.
double divergence(std::span<const double> series, std::size_t at) {
  const auto x = series.first(at);
  const auto y = series.subspan(at);
  const double weight = static_cast<double>(x.size() * y.size()) / static_cast<double>(series.size());
  return weight * (2 * mean_distance(x, y) - mean_distance_within(x) - mean_distance_within(y));
}

std::vector<double> noise(std::size_t n, unsigned seed, double sd = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, sd);
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(normal(random));
  return out;
}

std::vector<double> with_level(std::vector<double> series, std::size_t from, double level) {
  for (std::size_t i = from; i < series.size(); ++i) series[i] += level;
  return series;
}

std::vector<std::size_t> indexes(const std::vector<ChangePoint>& points) {
  std::vector<std::size_t> out;
  for (const auto& point : points) out.push_back(point.index);
  return out;
}

TEST(Divergences, EqualTheDefinition) {
  const auto series = with_level(noise(40, 7), 13, 2);
  const auto q = divergences(series);
  ASSERT_EQ(q.size(), series.size());
  for (std::size_t at = 1; at < series.size(); ++at) EXPECT_NEAR(q[at], divergence(series, at), 1e-9) << at;
}

// m = n = 2: 2*2/4 (2 * 1 - 0 - 0) = 2. At 1: 1*3/4 (2 * 2/3 - 0 - 2/3) = 1/2.
TEST(Divergences, OfAStepWithoutNoise) {
  const std::vector<double> series{0, 0, 1, 1};
  const auto q = divergences(series);
  EXPECT_DOUBLE_EQ(q[2], 2);
  EXPECT_DOUBLE_EQ(q[1], 0.5);
  EXPECT_DOUBLE_EQ(q[3], 0.5);
}

// The levels' variances are 1, so the difference of 10 has the standard error sqrt(1/3 + 1/3), with 4 degrees of
// freedom. Residuals -1 0 1 have no correlation of neighbours. For 4 degrees Student's distribution has a closed form.
TEST(ChangePoints, CarryTheDifferenceItsIntervalAndStudentsP) {
  const std::vector<double> series{1, 2, 3, 11, 12, 13};
  const auto points = change_points(series, {.p = 1e-3});
  ASSERT_THAT(indexes(points), testing::ElementsAre(3));
  const double error = std::sqrt(2.0 / 3);
  const double t = 10 / error;
  const double u = t * t / (1 + t * t / 4);
  EXPECT_NEAR(points[0].p, 1 - 0.75 * std::sqrt(u) * (1 - u / 12), 1e-12);
  EXPECT_DOUBLE_EQ(points[0].difference, 10);
  constexpr double kStudent = 2.7764451;  // 97.5 % at 4 degrees, published
  EXPECT_NEAR(points[0].difference_interval.low, 10 - kStudent * error, 1e-6);
  EXPECT_NEAR(points[0].difference_interval.high, 10 + kStudent * error, 1e-6);
  EXPECT_TRUE(change_points(series, {.p = 1e-5}).empty());
}

TEST(ChangePoints, AreFoundWhereLargeStepsAre) {
  auto series = noise(200, 3);
  for (const auto& [at, level] : {std::pair{40, 10.0}, {90, -20.0}, {97, 15.0}, {196, 12.0}}) {
    series = with_level(series, static_cast<std::size_t>(at), level);
  }
  EXPECT_THAT(indexes(change_points(series)), testing::ElementsAre(40, 90, 97, 196));
}

TEST(ChangePoints, AStepBackIsOneToo) {
  const auto series = with_level(with_level(noise(80, 5), 30, 8), 36, -8);
  EXPECT_THAT(indexes(change_points(series)), testing::ElementsAre(30, 36));
}

// Four values of the higher level do not differ significantly from the eight around them taken together.
TEST(ChangePoints, AShortLevelInAShortSeriesIsFound) {
  const auto series = with_level(with_level(noise(12, 2, 0.01), 4, 1), 8, -1);
  EXPECT_THAT(indexes(change_points(series)), testing::ElementsAre(4, 8));
}

TEST(ChangePoints, SmallOnesAreNotTold) {
  const auto series = with_level(noise(100, 11), 50, 4);
  EXPECT_THAT(indexes(change_points(series, {.least = 3})), testing::ElementsAre(50));
  EXPECT_TRUE(change_points(series, {.least = 5}).empty());
}

TEST(ChangePoints, WithoutNoiseAStepIsSure) {
  std::vector<double> series(10, 1.0);
  EXPECT_TRUE(change_points(series).empty());
  series = with_level(series, 6, 0.5);
  const auto points = change_points(series);
  ASSERT_THAT(indexes(points), testing::ElementsAre(6));
  EXPECT_EQ(points[0].p, 0);
}

TEST(ChangePoints, ALevelHasAtLeastThreeValues) {
  EXPECT_TRUE(change_points(std::vector<double>{}).empty());
  EXPECT_TRUE(change_points(std::vector<double>{0, 0, 9, 9, 9}).empty());
  EXPECT_THAT(indexes(change_points(std::vector<double>{0, 0, 0, 9, 9, 9})), testing::ElementsAre(3));
}

// x(t) = .6 x(t-1) + e wanders: its neighbours are so alike that 100 values are worth 25, and Student's plain test at
// 1e-4 takes stretches for levels in nearly half of such series. Here it is about one in ten.
TEST(ChangePoints, WanderingIsNoStep) {
  int alarms = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    auto series = noise(100, seed);
    for (std::size_t i = 1; i < series.size(); ++i) series[i] += 0.6 * series[i - 1];
    alarms += change_points(series).empty() ? 0 : 1;
  }
  EXPECT_LE(alarms, 15);
}

}  // namespace
}  // namespace assay::stats
