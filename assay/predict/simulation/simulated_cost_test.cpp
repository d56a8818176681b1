#include "assay/predict/simulation/simulated_cost.hpp"

#include <gtest/gtest.h>

#include "assay/predict/simulation/simulate_fixture.hpp"

namespace assay::predict {
namespace {

Cluster cluster_of(std::int64_t nodes, std::int64_t devices) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.devices_per_node = devices;
  cluster.inside = Wire{2e-6, 2e10};
  cluster.across = Wire{1e-5, 1e9};
  return cluster;
}

/// The largest difference between formula and simulation, relative, over sizes.
double apart(const Cluster& cluster, AllReduce name, SimulatedAlgorithm algorithm) {
  const auto request = cost_request(cluster, algorithm, {});
  const auto flows = simulated_cost(name, request, simulated(request));
  const auto formula = all_reduce_cost(cluster, name).choices.front();
  double most = 0;
  for (const double bytes : {1.0, 1e4, 1e6, 1e8}) {
    most = std::max(most, std::abs(flows.at(bytes) / formula.at(bytes) - 1));
  }
  return most;
}

TEST(SimulatedCost, IsThatOfTheFormulasWhereNothingIsContended) {
  for (const auto sharing : {Sharing::node, Sharing::device}) {
    for (const auto& [nodes, devices] : {std::pair{2, 1}, {64, 1}, {1024, 1}, {3, 4}, {16, 8}, {1, 8}}) {
      auto cluster = cluster_of(nodes, devices);
      cluster.across_per = sharing;
      for (const auto& [name, algorithm] : simulated_algorithms(cluster)) {
        EXPECT_LT(apart(cluster, name, algorithm), 1e-3) << nodes << " x " << devices << " " << name_of(name);
      }
    }
  }
}

TEST(SimulatedCost, AndOnAnOversubscribedTreeWhereTheFormulaKnowsIt) {
  auto cluster = cluster_of(16, 1);
  cluster.topology = {TopologyKind::fat_tree, 4, 4};
  EXPECT_LT(apart(cluster, AllReduce::ring, SimulatedAlgorithm::ring), 1e-3);
  EXPECT_LT(apart(cluster, AllReduce::halving_doubling, SimulatedAlgorithm::halving_doubling), 1e-3);
}

TEST(SimulatedCost, GrowsWithTrafficOfOthers) {
  const auto cluster = cluster_of(4, 1);
  Adversity busy;
  busy.background = {{0, 1, std::nullopt, 1}};  // one more flow on the ring's link from 0 to 1: half the rate is left
  const auto request = cost_request(cluster, SimulatedAlgorithm::ring, busy);
  const auto cost = simulated_cost(AllReduce::ring, request, simulated(request));
  EXPECT_NEAR(cost.byte_seconds / all_reduce_cost(cluster, AllReduce::ring).choices.front().byte_seconds, 2, 0.002);
}

}  // namespace
}  // namespace assay::predict
