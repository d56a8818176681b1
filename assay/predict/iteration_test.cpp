#include "assay/predict/iteration.hpp"

#include <gtest/gtest.h>

namespace assay::predict {
namespace {

/// Three layers of forward 1 and backward 2 s, with 10, 20 and 30 bytes of gradients; load 4, transfer 1, update .5 s.
LayerTable three_layers() {
  LayerTable table;
  table.name = "three";
  table.batch = 8;
  for (const double bytes : {10.0, 20.0, 30.0})
    table.layers.push_back({fmt::format("layer{}", bytes), 1, 2, {bytes}, 100});
  table.load_seconds = 4;
  table.transfer_seconds = 1;
  table.update_seconds = 0.5;
  return table;
}

/// Two nodes of one device: a ring of n bytes takes 2 x 0.25 s and n bytes at 20 B/s, so .5 + n / 20 s.
Cluster two_nodes() {
  Cluster cluster;
  cluster.nodes = 2;
  cluster.across = Wire{0.25, 20};
  return cluster;
}

Practice by_ring(Overlap overlap, FusionPolicy fusion) {
  Practice practice;
  practice.overlap = overlap;
  practice.fusion.policy = fusion;
  practice.all_reduce = AllReduce::ring;
  return practice;
}

TEST(Iteration, AddsUpWithoutOverlap) {
  // 4 + 1 load and transfer, 3 forward, 6 backward, three rings of 1, 1.5 and 2 s, .5 update.
  const auto step = iterate(three_layers(), two_nodes(), by_ring(Overlap::none, FusionPolicy::per_tensor));
  EXPECT_DOUBLE_EQ(step.communicate_seconds, 4.5);
  EXPECT_DOUBLE_EQ(step.exposed_seconds, 4.5);
  EXPECT_DOUBLE_EQ(step.seconds, 19);
}

TEST(Iteration, GoesThroughParameterServers) {
  // One server of its own for two nodes: .5 s and 2 n bytes at 20 B/s, so 1.5, 2.5 and 3.5 s.
  auto practice = by_ring(Overlap::none, FusionPolicy::per_tensor);
  practice.all_reduce.reset();
  practice.servers = ParameterServers{ServerPlace::own, 1};
  EXPECT_DOUBLE_EQ(iterate(three_layers(), two_nodes(), practice).seconds, 22);  // 5 + 3 + 6 + 7.5 + .5
  // With overlap from 5 s on, when the last layer's are ready: until 8.5, 11 and 12.5; .5 update.
  practice.overlap = Overlap::wait_free;
  const auto step = iterate(three_layers(), two_nodes(), practice);
  EXPECT_DOUBLE_EQ(step.seconds, 13);
  EXPECT_EQ(step.algorithms, std::vector<AllReduce>{AllReduce::parameter_servers});
}

TEST(Iteration, LinksThatSaveUpAreFasterAfterAPause) {
  // Of each call of .5 s latency the bytes of .5 s are free, and a pause saves up another .5 s. Ready at 5, 7 and 9 s:
  // 1.5 - .5 s until 6, 1 - .5 s until 7.5, and not less than the latency until 9.5; .5 update. Without: 10.5.
  auto cluster = two_nodes();
  cluster.across_burst_bytes = 10;
  const auto practice = by_ring(Overlap::wait_free, FusionPolicy::per_tensor);
  const auto step = iterate(three_layers(), cluster, practice);
  EXPECT_DOUBLE_EQ(step.communicate_seconds, 2);
  EXPECT_DOUBLE_EQ(step.seconds, 10);
  EXPECT_DOUBLE_EQ(iterate(three_layers(), two_nodes(), practice).seconds, 10.5);
}

TEST(Iteration, WhatASmallCallDidNotCarryTheNextOneDoes) {
  // Without computing: 4 bytes take the latency of .5 s, of which .3 s are saved; 40 bytes then take 2 - .3 s.
  LayerTable table;
  table.layers = {{"late", 0, 0, {40}, 0}, {"early", 0, 0, {4}, 0}};
  auto cluster = two_nodes();
  cluster.across_burst_bytes = 10;
  EXPECT_NEAR(iterate(table, cluster, by_ring(Overlap::wait_free, FusionPolicy::per_tensor)).seconds, 2.2, 1e-12);
  // Behind 40 bytes nothing is saved: 2 s, and then the latency.
  std::swap(table.layers[0], table.layers[1]);
  EXPECT_NEAR(iterate(table, cluster, by_ring(Overlap::wait_free, FusionPolicy::per_tensor)).seconds, 2.5, 1e-12);
}

TEST(Iteration, HidesInputBehindTheRest) {
  // max(5, 3 + 6 + 4.5 + .5).
  EXPECT_DOUBLE_EQ(iterate(three_layers(), two_nodes(), by_ring(Overlap::input, FusionPolicy::per_tensor)).seconds, 14);
  auto slow = three_layers();
  slow.load_seconds = 40;
  EXPECT_DOUBLE_EQ(iterate(slow, two_nodes(), by_ring(Overlap::input, FusionPolicy::per_tensor)).seconds, 41);
}

TEST(Iteration, HidesGradientsBehindTheBackwardPass) {
  // Ready at 5, 7 and 9 (30, 20, 10 bytes): rings from 5 to 7, 7 to 8.5, 9 to 10: 1 s is exposed.
  const auto step = iterate(three_layers(), two_nodes(), by_ring(Overlap::wait_free, FusionPolicy::per_tensor));
  EXPECT_DOUBLE_EQ(step.communicate_seconds, 4.5);
  EXPECT_DOUBLE_EQ(step.exposed_seconds, 1);
  EXPECT_DOUBLE_EQ(step.seconds, 10.5);
  EXPECT_EQ(step.messages, 3);
  // All at once: 60 bytes in 3.5 s from 9 on.
  EXPECT_DOUBLE_EQ(iterate(three_layers(), two_nodes(), by_ring(Overlap::wait_free, FusionPolicy::one)).seconds, 13);
}

TEST(Iteration, SlowsComputeWhileGradientsTravel) {
  auto practice = by_ring(Overlap::wait_free, FusionPolicy::per_tensor);
  practice.slow_down = 1.25;
  // The second backward pass begins at 5 beside a ring of 2 s (30 bytes): 1.6 s of its work are done by 7, the rest
  // by 7.4. Its ring (1.5 s) goes until 8.9; beside it 1.2 s of the third are done, the rest by 9.7. The last ring ends
  // at 10.7.
  const auto step = iterate(three_layers(), two_nodes(), practice);
  EXPECT_DOUBLE_EQ(step.backward_seconds, 6.7);
  EXPECT_NEAR(step.seconds, 9.7 + 1 + 0.5, 1e-12);
}

TEST(Iteration, AddsUpGradientsOfSeveralBatches) {
  auto practice = by_ring(Overlap::wait_free, FusionPolicy::per_tensor);
  practice.accumulation = 2;
  // Two forward and backward passes, 18 s, and 1 s of ring as before; loading two batches takes 10 s beside it.
  const auto step = iterate(three_layers(), two_nodes(), practice);
  EXPECT_DOUBLE_EQ(step.exposed_seconds, 1);
  EXPECT_DOUBLE_EQ(step.seconds, 19.5);
}

TEST(Iteration, ShardsWithZero) {
  auto practice = by_ring(Overlap::wait_free, FusionPolicy::per_tensor);
  practice.zero = 1;
  // Half of each ring behind the backward pass (the last .5 s exposed), the other halves, 2.25 s, after the update.
  EXPECT_DOUBLE_EQ(iterate(three_layers(), two_nodes(), practice).seconds, 3 + 6 + 0.5 + 2.25 + 0.5);
  practice.zero = 3;
  // Gathering takes 2.25 s behind 3 s of forward; behind backward as much as an all_reduce.
  EXPECT_DOUBLE_EQ(iterate(three_layers(), two_nodes(), practice).seconds, 10.5);
}

TEST(Iteration, WaitsForStorageThatDevicesShare) {
  auto table = three_layers();
  table.load_seconds = 0;
  table.stored_bytes = 100;
  auto cluster = two_nodes();
  cluster.storage = Storage{10, Sharing::node};
  EXPECT_DOUBLE_EQ(iterate(table, cluster, {}).load_seconds, 10);
  cluster.storage->per = Sharing::cluster;
  EXPECT_DOUBLE_EQ(iterate(table, cluster, {}).load_seconds, 20);
}

TEST(Iteration, DrawsWhatHappensWhen) {
  std::vector<Span> spans;
  const auto step = iterate(three_layers(), two_nodes(), by_ring(Overlap::wait_free, FusionPolicy::per_tensor), &spans);
  double last = 0;
  for (const auto& span : spans) {
    EXPECT_LE(span.begin_seconds, span.end_seconds);
    last = std::max(last, span.end_seconds);
  }
  EXPECT_DOUBLE_EQ(last, step.seconds);
  EXPECT_EQ(spans.size(), 2u + 3 + 3 + 3 + 1);
}

}  // namespace
}  // namespace assay::predict
