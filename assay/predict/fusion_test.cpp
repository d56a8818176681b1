#include "assay/predict/fusion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace assay::predict {
namespace {

/// 10 ms a call and 1 ms a byte, so that times can be added up by hand.
const CollectiveCost kSimple{{{AllReduce::ring, 10, 1}}};

/// Every way to cut n gradients into neighbours: 2^(n-1).
double best_by_trying_all(const std::vector<Gradient>& gradients, const CollectiveCost& cost) {
  double best = std::numeric_limits<double>::infinity();
  const auto n = gradients.size();
  for (unsigned cuts = 0; cuts < (1U << (n - 1)); ++cuts) {
    std::vector<FusedBucket> buckets;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == 0 || (cuts >> (i - 1) & 1U) != 0) buckets.push_back({i, i, 0});
      buckets.back().last = i;
      buckets.back().bytes += gradients[i].bytes;
    }
    best = std::min(best, finish_seconds(gradients, buckets, cost));
  }
  return best;
}

std::vector<Gradient> random_gradients(std::mt19937_64& random) {
  std::uniform_int_distribution<std::size_t> count(1, 12);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Gradient> gradients(count(random));
  double now = 0;
  for (auto& gradient : gradients) {
    now += 20 * uniform(random);
    gradient = {now, 30 * uniform(random) * uniform(random)};
  }
  return gradients;
}

TEST(Fusion, OptimalEqualsEveryWayTriedOn300RandomNetworks) {
  std::mt19937_64 random(1);
  int greedy_worse = 0;
  for (int i = 0; i < 300; ++i) {
    const auto gradients = random_gradients(random);
    // Two algorithms, so that the cost of a size is no straight line.
    const CollectiveCost cost{{{AllReduce::ring, 10, 1}, {AllReduce::binary_tree, 4, 2}}};
    const double best = best_by_trying_all(gradients, cost);
    for (const auto policy :
         {FusionPolicy::per_tensor, FusionPolicy::buckets, FusionPolicy::greedy, FusionPolicy::one}) {
      const auto buckets = fuse(gradients, {policy, 20, 5}, cost);
      EXPECT_GE(finish_seconds(gradients, buckets, cost), best * (1 - 1e-12));
      if (policy == FusionPolicy::greedy) {
        greedy_worse += finish_seconds(gradients, buckets, cost) > best * (1 + 1e-9) ? 1 : 0;
      }
    }
    const auto buckets = fuse(gradients, {FusionPolicy::optimal}, cost);
    EXPECT_NEAR(finish_seconds(gradients, buckets, cost), best, 1e-12 * best) << "network " << i;
  }
  EXPECT_GT(greedy_worse, 0);  // or the networks would be too easy to tell policies apart
}

TEST(Fusion, PoliciesCutWhereTheySay) {
  // Ready at 1, 2, 3, 4 with 3, 3, 3, 8 bytes.
  const std::vector<Gradient> gradients{{1, 3}, {2, 3}, {3, 3}, {4, 8}};
  EXPECT_EQ(fuse(gradients, {FusionPolicy::per_tensor}, kSimple).size(), 4u);
  EXPECT_EQ(fuse(gradients, {FusionPolicy::one}, kSimple).size(), 1u);
  // A first bucket of 2 is full with one, one of 6 with two more, the last has what is left.
  const auto buckets = fuse(gradients, {FusionPolicy::buckets, 6, 2}, kSimple);
  ASSERT_EQ(buckets.size(), 3u);
  EXPECT_EQ(buckets[0].last, 0u);
  EXPECT_EQ(buckets[1].last, 2u);
  EXPECT_DOUBLE_EQ(buckets[1].bytes, 6);
  // 1 + 13 = 14; 14 + 16 = 30; 30 + 18 = 48.
  EXPECT_DOUBLE_EQ(finish_seconds(gradients, buckets, kSimple), 48);
  // All at once: 4 + 10 + 17 = 31, which is the best: a second call costs 10, and waiting only 3.
  EXPECT_DOUBLE_EQ(finish_seconds(gradients, fuse(gradients, {FusionPolicy::optimal}, kSimple), kSimple), 31);
}

TEST(Fusion, OfWaysThatEndAlikeTheOneWithFewestBucketsIsTaken) {
  // A byte a second and nothing for a call: bytes wait for each other however they are joined. Ready at 1, 1, 1 and 20
  // with 3, 3, 3 and 2 bytes: the first three end at 10 in any case, and the last at 22 only if it is alone.
  const CollectiveCost free_calls{{{AllReduce::ring, 0, 1}}};
  const std::vector<Gradient> gradients{{1, 3}, {1, 3}, {1, 3}, {20, 2}};
  const auto buckets = fuse(gradients, {FusionPolicy::optimal}, free_calls);
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0].last, 2u);
  EXPECT_DOUBLE_EQ(finish_seconds(gradients, buckets, free_calls), 22);
}

TEST(Fusion, NothingTravelsWithoutGradients) {
  EXPECT_TRUE(fuse({}, {FusionPolicy::optimal}, kSimple).empty());
}

}  // namespace
}  // namespace assay::predict
