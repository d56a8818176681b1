#include "assay/predict/collective_cost.hpp"

#include <gtest/gtest.h>

#include "assay/model/links/collective.hpp"

namespace assay::predict {
namespace {

Cluster nodes_of(std::int64_t nodes, std::int64_t devices) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.devices_per_node = devices;
  cluster.inside = Wire{1e-6, 1e10};
  cluster.across = Wire{1e-5, 1e9};
  return cluster;
}

TEST(CollectiveCost, NothingTravelsOnOneDevice) {
  EXPECT_EQ(all_reduce_cost(nodes_of(1, 1)).seconds(1e6), 0);
}

TEST(CollectiveCost, HierarchicalRingIsTheFormulaOfTheTwoLevels) {
  // 2(g-1) a_i + 2(g-1)/g n b_i + 2(N-1) a_x + 2(N-1)/N (n/g) b_x with a rail each; g times the last with one link.
  auto cluster = nodes_of(4, 8);
  cluster.across_per = Sharing::device;
  const double n = 1e8;
  const double inside = 14e-6 + 14.0 / 8 * n / 1e10;
  const double across = 6e-5 + 6.0 / 4 * n / 8 / 1e9;
  EXPECT_NEAR(all_reduce_cost(cluster, AllReduce::hierarchical_ring).seconds(n), inside + across, 1e-12);
  cluster.across_per = Sharing::node;
  EXPECT_NEAR(all_reduce_cost(cluster, AllReduce::hierarchical_ring).seconds(n), inside + 6e-5 + 6.0 / 4 * n / 1e9,
              1e-12);
}

TEST(CollectiveCost, AFlatRingGoesAtThePaceOfItsSlowestLink) {
  // 32 devices: 62 steps of 1e-5 s, 62/32 of the bytes at 1e9 B/s.
  EXPECT_NEAR(all_reduce_cost(nodes_of(4, 8), AllReduce::ring).seconds(1e8), 62e-5 + 62.0 / 32 * 0.1, 1e-12);
}

TEST(CollectiveCost, ALinkThatSavesUpHidesLatencyBehindBytes) {
  // 4 nodes: 6 messages of a quarter of the bytes; in the latency of 1e-5 s 1e4 bytes could have passed.
  auto cluster = nodes_of(4, 1);
  cluster.across_burst_bytes = 1e6;
  const auto seconds = [&](double bytes) { return all_reduce_cost(cluster, AllReduce::ring).seconds(bytes); };
  EXPECT_NEAR(seconds(4e3), 6e-5, 1e-12);           // latency alone
  EXPECT_NEAR(seconds(4e5), 6 * 1e5 / 1e9, 1e-12);  // bytes alone
  cluster.across_burst_bytes = 2e3;                 // no more than this is saved up
  EXPECT_NEAR(seconds(4e3), 6e-5, 1e-12);
  EXPECT_NEAR(seconds(4e5), 6 * (1e-5 + (1e5 - 2e3) / 1e9), 1e-12);
  cluster.across_burst_bytes.reset();
  EXPECT_NEAR(seconds(4e5), 6 * (1e-5 + 1e5 / 1e9), 1e-12);
}

TEST(CollectiveCost, TakesTheCheapestForEachSize) {
  const auto cost = all_reduce_cost(nodes_of(64, 1));
  EXPECT_EQ(cost.cheapest(8)->algorithm, AllReduce::halving_doubling);  // 12 latencies in place of the ring's 126
  for (const double bytes : {1.0, 1e4, 1e6, 1e9}) {
    for (const auto& one : cost.choices) EXPECT_LE(cost.seconds(bytes), one.at(bytes));
  }
}

TEST(CollectiveCost, OfNcclIsTheCheaperOfRingsAndDoubleTrees) {
  const auto flat = all_reduce_cost(nodes_of(64, 1), AllReduce::nccl);
  EXPECT_EQ(flat.choices.size(), 2u);
  // 8 bytes: 2 log2 64 = 12 latencies by trees, 126 by the ring. 1 GB: 2 of the bytes by trees, 126 / 64 by the ring.
  EXPECT_EQ(flat.cheapest(8)->algorithm, AllReduce::double_tree);
  EXPECT_NEAR(flat.seconds(8), 12e-5, 1e-6);
  EXPECT_EQ(flat.cheapest(1e9)->algorithm, AllReduce::ring);
  EXPECT_NEAR(flat.seconds(1e9), 126e-5 + 126.0 / 64, 1e-9);
  for (const auto& one : all_reduce_cost(nodes_of(4, 8), AllReduce::nccl).choices) {
    EXPECT_TRUE(one.algorithm == AllReduce::ring || one.algorithm == AllReduce::hierarchical_ring ||
                one.algorithm == AllReduce::hierarchical_double_tree)
        << name_of(one.algorithm);
  }
}

TEST(CollectiveCost, HalvingAndDoublingPaysForAnOversubscribedTree) {
  auto cluster = nodes_of(16, 1);
  cluster.topology = {TopologyKind::fat_tree, 4, 4};
  // Distances 8 and 4 leave the leaf: 1/2 and 1/4 of the bytes at a quarter of the rate; 2 and 1 stay: 1/8 and 1/16.
  const double bytes_over_rate = 2 * (4 * (0.5 + 0.25) + 0.125 + 0.0625);
  const auto cost = all_reduce_cost(cluster, AllReduce::halving_doubling);
  EXPECT_NEAR(cost.seconds(1e9), 8e-5 + bytes_over_rate, 1e-9);
  // A ring crosses the links of a leaf once in each direction: it pays nothing.
  cluster.topology.oversubscription = 1;
  const double free = all_reduce_cost(cluster, AllReduce::ring).seconds(1e9);
  cluster.topology.oversubscription = 4;
  EXPECT_DOUBLE_EQ(all_reduce_cost(cluster, AllReduce::ring).seconds(1e9), free);
}

TEST(CollectiveCost, RefusesAnAlgorithmThatCannotBe) {
  EXPECT_THROW(static_cast<void>(all_reduce_cost(nodes_of(1, 4), AllReduce::hierarchical_ring)), Error);
  EXPECT_THROW(static_cast<void>(all_reduce_cost(nodes_of(3, 1), AllReduce::halving_doubling)), Error);
}

TEST(CollectiveCost, OnOneLevelIsTheFormulaOfTheCollective) {
  const model::Link link{1e-6, 1e-10, 0};
  for (const auto ranks : {2, 3, 8}) {
    const auto cost = all_reduce_cost(nodes_of(1, ranks), AllReduce::ring);
    EXPECT_NEAR(cost.seconds(1e6),
                model::seconds(model::Collective::all_reduce, model::CollectiveAlgorithm::ring, link, 1e6, ranks),
                1e-15);
  }
}

TEST(ParameterServers, OnNodesOfTheirOwnTakeEveryByteOnceEachWay) {
  // 4 nodes, 4 servers: a node sends n bytes, and a server receives a quarter of n from each of 4. Two latencies.
  const auto cost = server_cost(nodes_of(4, 1), {ServerPlace::own, std::nullopt});
  EXPECT_NEAR(cost.seconds(1e8), 2e-5 + 0.1, 1e-12);
  EXPECT_EQ(cost.choices.front().algorithm, AllReduce::parameter_servers);
}

TEST(ParameterServers, FewServersReceiveFromAll) {
  // One server receives n bytes from each of 4 nodes; two take half of each; eight are no faster than four.
  EXPECT_NEAR(server_cost(nodes_of(4, 1), {ServerPlace::own, 1}).seconds(1e8), 2e-5 + 0.4, 1e-12);
  EXPECT_NEAR(server_cost(nodes_of(4, 1), {ServerPlace::own, 2}).seconds(1e8), 2e-5 + 0.2, 1e-12);
  EXPECT_NEAR(server_cost(nodes_of(4, 1), {ServerPlace::own, 8}).seconds(1e8), 2e-5 + 0.1, 1e-12);
}

TEST(ParameterServers, OnTheNodesThatTrainShareTheirLinks) {
  // 4 nodes with a server each: 3/4 of n to the other servers, and a quarter of n to each of 3 others: as a ring.
  EXPECT_NEAR(server_cost(nodes_of(4, 1), {ServerPlace::workers, std::nullopt}).seconds(1e8), 2e-5 + 0.15, 1e-12);
  // One server on one of 4 nodes: it keeps its own gradients and sends sums to 3.
  EXPECT_NEAR(server_cost(nodes_of(4, 1), {ServerPlace::workers, 1}).seconds(1e8), 2e-5 + 0.3, 1e-12);
  EXPECT_THROW(server_cost(nodes_of(4, 1), {ServerPlace::workers, 5}), Error);
}

TEST(ParameterServers, DevicesOfANodeAddUpFirst) {
  // 8 devices: 14 latencies of 1e-6 and 14/8 of the bytes at 1e10 B/s, around the 2e-5 + n / 1e9 across.
  const auto cost = server_cost(nodes_of(2, 8), {ServerPlace::own, std::nullopt}, {1e-3});
  EXPECT_NEAR(cost.seconds(1e8), 1e-3 + 14e-6 + 14.0 / 8 * 0.01 + 2e-5 + 0.1, 1e-12);
}

TEST(ParameterServers, OneNodeNeedsNone) {
  const auto cluster = nodes_of(1, 4);
  EXPECT_EQ(server_cost(cluster, {ServerPlace::own, 1}).seconds(1e6), all_reduce_cost(cluster).seconds(1e6));
}

}  // namespace
}  // namespace assay::predict
