#include "assay/measure/agent/pair.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::measure {
namespace {

struct MeasuredTurn {
  std::int64_t number;
  std::vector<std::int64_t> samples;
  bool warmup = false;
};

RankResult side(const std::vector<MeasuredTurn>& turns) {
  RankResult rank;
  for (const auto& turn : turns) {
    rank.slices.push_back({turn.number, 0, 0, static_cast<std::int64_t>(turn.samples.size()), turn.warmup, {}});
    rank.samples_ns.insert(rank.samples_ns.end(), turn.samples.begin(), turn.samples.end());
  }
  return rank;
}

TEST(Pair, itsRatioIsTheMedianOverRounds) {
  // Rounds 1, 2, 3 with ratios 2, 1.1 and 1.2; a slow phase of the host is in both sides of round 2. Warm-up is left
  // out.
  const auto a = side({{0, {900}, true}, {3, {100, 100}}, {4, {1000, 1000}}, {7, {100, 100}}});
  const auto b = side({{1, {1}, true}, {2, {200, 200}}, {5, {1100, 1100}}, {6, {110, 130}}});
  EXPECT_NEAR(pair_log_ratio({a}, {b}).value(), std::log(1.2), 1e-12);
}

TEST(Pair, roundsOfOneSideAreLeftOut) {
  const auto a = side({{2, {100}}, {4, {100}}});
  const auto b = side({{3, {150}}, {7, {900}}});
  EXPECT_NEAR(pair_log_ratio({a}, {b}).value(), std::log(1.5), 1e-12);
  EXPECT_FALSE(pair_log_ratio({a}, {side({{9, {1}}})}).has_value());
}

}  // namespace
}  // namespace assay::measure
