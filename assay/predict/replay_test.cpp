#include "assay/predict/replay.hpp"

#include <gtest/gtest.h>

#include <random>

namespace assay::predict {
namespace {

/// Four layers of forward 1 and backward 2 s; the second has two tensors.
LayerTable four_layers() {
  LayerTable table;
  table.name = "four";
  table.batch = 8;
  table.update_seconds = 0.5;
  table.layers = {{"a", 1, 2, {40}, 0}, {"b", 1, 2, {80, 4}, 0}, {"c", 1, 2, {}, 0}, {"d", 1, 2, {400}, 0}};
  return table;
}

Cluster pair() {
  Cluster cluster;
  cluster.nodes = 2;
  cluster.across = Wire{0.25, 20};
  return cluster;
}

Practice joined_by(FusionPolicy policy) {
  Practice practice;
  practice.fusion = {policy, 100, 50};
  practice.all_reduce = AllReduce::ring;
  return practice;
}

TEST(PredictReplay, GradientsAreReadyWhenTheirLayerIsDone) {
  // Forward ends at 4. Backward: d at 6, c (which has none) at 8, b at 10, a at 12.
  const auto replay = replay_of(four_layers(), pair(), joined_by(FusionPolicy::per_tensor));
  EXPECT_EQ(replay.network, "four");
  EXPECT_EQ(replay.batch, 8);
  EXPECT_DOUBLE_EQ(replay.forward_seconds, 4);
  EXPECT_DOUBLE_EQ(replay.backward_seconds, 8);
  EXPECT_DOUBLE_EQ(replay.update_seconds, 0.5);
  const std::vector<std::pair<double, std::int64_t>> expected{{6, 400}, {10, 80}, {10, 4}, {12, 40}};
  ASSERT_EQ(replay.buckets.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_DOUBLE_EQ(replay.buckets[i].ready_seconds, expected[i].first) << i;
    EXPECT_EQ(replay.buckets[i].bytes, expected[i].second) << i;
  }
}

TEST(PredictReplay, ABucketIsReadyWithItsLastGradient) {
  // The first is full at 50 bytes: d alone. The second wants 100: 80, 4 and 40, the last of which is a's.
  const auto replay = replay_of(four_layers(), pair(), joined_by(FusionPolicy::buckets));
  ASSERT_EQ(replay.buckets.size(), 2U);
  EXPECT_EQ(replay.buckets[1].bytes, 124);
  EXPECT_DOUBLE_EQ(replay.buckets[1].ready_seconds, 12);
}

TEST(PredictReplay, AccumulatedBatchesTravelOnceInTheLastBackwardPass) {
  auto practice = joined_by(FusionPolicy::one);
  practice.accumulation = 3;
  const auto replay = replay_of(four_layers(), pair(), practice);
  EXPECT_EQ(replay.batch, 24);
  EXPECT_DOUBLE_EQ(replay.forward_seconds, 3 * 4 + 2 * 8);
  ASSERT_EQ(replay.buckets.size(), 1U);
  EXPECT_DOUBLE_EQ(replay.buckets[0].ready_seconds, 3 * (4 + 8));
  EXPECT_EQ(replay.buckets[0].bytes, 524);
}

TEST(PredictReplay, ZeroIsRefused) {
  auto practice = joined_by(FusionPolicy::one);
  practice.zero = 1;
  EXPECT_THROW(static_cast<void>(replay_of(four_layers(), pair(), practice)), Error);
}

/// What replays it does: a bucket begins when it is ready and the one before it has travelled.
double played(const Replay& replay, const CollectiveCost& cost) {
  double free = 0;
  for (const auto& bucket : replay.buckets) {
    free = std::max(free, bucket.ready_seconds) + cost.seconds(static_cast<double>(bucket.bytes));
  }
  return std::max(free, replay.forward_seconds + replay.backward_seconds) + replay.update_seconds;
}

TEST(PredictReplay, PlayedOnTheClusterItTakesThePredictedStep) {
  std::mt19937 random(20261116);  // its numbers are the same everywhere; those of distributions are not
  for (int round = 0; round < 50; ++round) {
    LayerTable table;
    table.name = "drawn";
    for (int i = 0; i < 20; ++i) {
      table.layers.push_back(
          {"layer", 0.01 * static_cast<double>(random() % 100), 0.01 * static_cast<double>(random() % 100), {}, 0});
      for (auto n = random() % 3; n > 0; --n) {
        table.layers.back().gradient_bytes.push_back(4.0 * static_cast<double>(1 + random() % 20));
      }
    }
    for (const auto policy : {FusionPolicy::optimal, FusionPolicy::per_tensor, FusionPolicy::buckets,
                              FusionPolicy::greedy, FusionPolicy::one}) {
      const auto practice = joined_by(policy);
      const auto cost = all_reduce_cost(pair(), practice.all_reduce);
      const auto replay = replay_of(table, pair(), practice);
      EXPECT_NEAR(played(replay, cost), iterate(table, pair(), practice).seconds, 1e-9) << name_of(policy);
      EXPECT_EQ(to_json(parse_replay(to_json(replay).dump(), "again")), to_json(replay));
    }
  }
}

}  // namespace
}  // namespace assay::predict
