#include "assay/stats/hampel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::stats {
namespace {

/// 0, 1, 2, 0, 1, 2, …: every window of 6 and more has a MAD of 1, or 1/2 below an odd number.
std::vector<double> quiet(std::size_t n) {
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(static_cast<double>(i % 3));
  return out;
}

std::vector<std::size_t> outliers(const std::vector<double>& series, const HampelRule& rule = {}) {
  std::vector<std::size_t> out;
  const auto marked = hampel_outliers(series, rule);
  for (std::size_t i = 0; i < marked.size(); ++i) {
    if (marked[i]) out.push_back(i);
  }
  return out;
}

// The window of the middle value is the whole series. Its median is 6, the distances from it are 6 5 4 3 2 44 0 1 2 3
// 4, their median is 3, so the value lies 44 / (3 * 1.4826) = 9.89 deviations away.
TEST(Hampel, ComparesWithTheMedianAndTheDeviationOfTheWindow) {
  const std::vector<double> series{0, 1, 2, 3, 4, 50, 6, 7, 8, 9, 10};
  EXPECT_TRUE(hampel_outliers(series, {.limit = 9.88})[5]);
  EXPECT_FALSE(hampel_outliers(series, {.limit = 9.90})[5]);
}

TEST(Hampel, FindsSingleOutliersAnywhere) {
  for (const std::size_t at : {0u, 1u, 7u, 28u, 29u}) {
    auto series = quiet(30);
    series[at] = 100;
    EXPECT_THAT(outliers(series), testing::ElementsAre(at)) << at;
    series[at] = -100;
    EXPECT_THAT(outliers(series), testing::ElementsAre(at)) << at;
  }
}

// Beside a step a window of 11 holds 6 values of its middle's own level: the median lies among them, and so does the
// 6th smallest distance from it, which is the MAD.
TEST(Hampel, AStepIsNoOutlier) {
  auto series = quiet(40);
  for (std::size_t i = 20; i < series.size(); ++i) series[i] += 100;
  EXPECT_THAT(outliers(series), testing::IsEmpty());
}

TEST(Hampel, ThreeNeighboursAreALevelAndTwoAreNot) {
  auto series = quiet(30);
  series[28] = series[29] = 100;
  EXPECT_THAT(outliers(series), testing::ElementsAre(28, 29));
  series[27] = 100;
  EXPECT_THAT(outliers(series), testing::IsEmpty());
  series[28] = -100;  // no longer on one side
  EXPECT_THAT(outliers(series), testing::Contains(28));
}

TEST(Hampel, InAStillWindowOnlyWhatIsFarEnoughIsAnOutlier) {
  std::vector<double> series(20, 1.0);
  series[10] = 1.01;
  EXPECT_THAT(outliers(series), testing::ElementsAre(10));
  EXPECT_THAT(outliers(series, {.least = 0.02}), testing::IsEmpty());
}

TEST(Hampel, ShortSeriesHaveNone) {
  EXPECT_TRUE(hampel_outliers({}).empty());
  EXPECT_THAT(outliers({1}), testing::IsEmpty());
  EXPECT_THAT(outliers({1, 2}), testing::IsEmpty());
}

}  // namespace
}  // namespace assay::stats
