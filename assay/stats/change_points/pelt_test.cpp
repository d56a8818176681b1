#include "assay/stats/change_points/pelt.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace assay::stats {
namespace {

double segment_cost(const std::vector<double>& values, std::size_t begin, std::size_t end, double least) {
  const auto n = static_cast<double>(end - begin);
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += values[i];
  double squares = 0;
  for (std::size_t i = begin; i < end; ++i) squares += (values[i] - sum / n) * (values[i] - sum / n);
  return n * std::log(std::max(squares / n, least));
}

/// The cheapest segmentation by trying every beginning of every last segment.
double cheapest(const std::vector<double>& values, const PeltOptions& o) {
  std::vector<double> best(values.size() + 1, std::numeric_limits<double>::infinity());
  best[0] = -o.penalty;
  for (std::size_t end = o.shortest; end <= values.size(); ++end) {
    for (std::size_t begin = 0; begin + o.shortest <= end; ++begin) {
      best[end] = std::min(best[end], best[begin] + segment_cost(values, begin, end, o.least_variance) + o.penalty);
    }
  }
  return best.back();
}

double cost_of(const std::vector<double>& values, const std::vector<std::size_t>& starts, const PeltOptions& o) {
  double total = -o.penalty;
  for (std::size_t s = 0; s < starts.size(); ++s) {
    const std::size_t end = s + 1 < starts.size() ? starts[s + 1] : values.size();
    total += segment_cost(values, starts[s], end, o.least_variance) + o.penalty;
  }
  return total;
}

TEST(Pelt, IsAsCheapAsTheBestOfAllSegmentations) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    std::normal_distribution<double> noise(0, 1);
    std::vector<double> values;
    double level = 100;
    double spread = 1;
    for (int i = 0; i < 80; ++i) {
      if (random() % 20 == 0) level += 4 * noise(random);
      if (random() % 30 == 0) spread = 0.2 + static_cast<double>(random() % 10) / 3;
      values.push_back(level + spread * noise(random));
    }
    const PeltOptions options{0.5 + static_cast<double>(random() % 12), 1e-6, 2 + random() % 4};
    const auto starts = segment_starts(values, options);
    EXPECT_NEAR(cost_of(values, starts, options), cheapest(values, options), 1e-6) << round;
  }
}

TEST(Pelt, FindsAStepOfTheMean) {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back((i < 25 ? 10 : 14) + (i % 2 == 0 ? 0.1 : -0.1));
  EXPECT_EQ(segment_starts(values, {15 * std::log(60.0), 1e-6, 3}), (std::vector<std::size_t>{0, 25}));
}

TEST(Pelt, LeavesAConstantAndAShortSeriesWhole) {
  EXPECT_EQ(segment_starts(std::vector<double>(50, 7), {10, 1e-6, 3}), (std::vector<std::size_t>{0}));
  EXPECT_EQ(segment_starts({1, 9, 1}, {0, 1e-6, 3}), (std::vector<std::size_t>{0}));
}

}  // namespace
}  // namespace assay::stats
