#include "assay/measure/agent/group.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::measure {
namespace {

struct MeasuredTurn {
  std::int64_t number;
  std::vector<std::int64_t> samples;
  bool warmup = false;
};

std::vector<RankResult> side(const std::vector<MeasuredTurn>& turns) {
  RankResult rank;
  for (const auto& turn : turns) {
    rank.slices.push_back({turn.number, 0, 0, static_cast<std::int64_t>(turn.samples.size()), turn.warmup, {}});
    rank.samples_ns.insert(rank.samples_ns.end(), turn.samples.begin(), turn.samples.end());
  }
  return {rank};
}

TEST(Group, aRatioIsTheMedianOverRounds) {
  // Rounds 1, 2, 3 with ratios 2, 1.1 and 1.2; a slow phase of the host is in both sides of round 2. Warm-up and the
  // first step of each slice are left out.
  const auto a = side({{0, {900}, true}, {3, {7, 100, 100}}, {4, {7, 1000, 1000}}, {7, {7, 100, 100}}});
  const auto b = side({{1, {1}, true}, {2, {999, 200, 200}}, {5, {9, 1100, 1100}}, {6, {9, 110, 130}}});
  EXPECT_NEAR(log_ratio({a, b}, 1).value(), std::log(1.2), 1e-12);
  EXPECT_NEAR(log_ratio({a, b}, 0, 1).value(), -std::log(1.2), 1e-12);
}

TEST(Group, roundsOfOneSideAreLeftOut) {
  const auto a = side({{2, {100}}, {4, {100}}});
  const auto b = side({{3, {150}}, {7, {900}}});
  EXPECT_NEAR(log_ratio({a, b}, 1).value(), std::log(1.5), 1e-12) << "a slice of one step keeps it";
  EXPECT_FALSE(log_ratio({a, side({{9, {1}}})}, 1).has_value());
}

TEST(Group, aRoundHasAsManyTurnsAsSides) {
  // Turns 3 to 5 are round 1 of three sides, and 6 to 8 are round 2. Read as a pair, turns 3 and 4 would meet no more.
  const auto a = side({{4, {9, 100}}, {7, {9, 200}}});
  const auto b = side({{3, {9, 110}}, {8, {9, 220}}});
  const auto c = side({{5, {9, 300}}, {6, {9, 600}}});
  EXPECT_NEAR(log_ratio({a, b, c}, 1).value(), std::log(1.1), 1e-12);
  EXPECT_NEAR(log_ratio({a, b, c}, 2).value(), std::log(3), 1e-12);
  EXPECT_NEAR(log_ratio({a, b, c}, 0).value(), 0, 1e-12);
}

}  // namespace
}  // namespace assay::measure
