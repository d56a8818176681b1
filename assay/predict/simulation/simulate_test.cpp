#include "assay/predict/simulation/simulate.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "assay/model/links/collective.hpp"
#include "assay/predict/simulation/simulate_fixture.hpp"
#include "assay/predict/simulation/simulate_network.hpp"

namespace assay::predict {
namespace {

constexpr SimulatedLink kAcross{5e-6, 1.25e9};
constexpr SimulatedLink kInside{1e-6, 1e11};
constexpr std::int64_t kBytes = 100'000'000;

SimulatedTopology star(std::int64_t nodes, std::int64_t devices = 1) {
  return {TopologyKind::star, nodes, devices, 1, 1};
}

SimulatedTopology fat_tree(std::int64_t nodes, std::int64_t nodes_per_leaf, double oversubscription) {
  return {TopologyKind::fat_tree, nodes, 1, nodes_per_leaf, oversubscription};
}

/// One bucket that is ready at once.
SimulationRequest one_bucket(const SimulatedTopology& topology, SimulatedAlgorithm algorithm) {
  SimulationRequest request;
  request.topology = topology;
  request.across = kAcross;
  request.inside = kInside;
  request.algorithm = algorithm;
  request.buckets = {{0, kBytes}};
  return request;
}

double seconds_of(const SimulationRequest& request) {
  return simulated(request).iteration_seconds;
}

model::Link link_of(const SimulatedLink& link) {
  return {link.latency_seconds, 1 / link.bandwidth_bytes_per_second, 0};
}

double by_formula(model::CollectiveAlgorithm algorithm, std::int64_t ranks) {
  return model::seconds(model::Collective::all_reduce, algorithm, link_of(kAcross), static_cast<double>(kBytes), ranks);
}

/// Simulation over formula, on a star and on a fat tree whose uplinks carry all that its nodes send. Leaves of 5 nodes,
/// which no number of nodes below is a multiple of.
void expect_agreement(SimulatedAlgorithm simulated_one, model::CollectiveAlgorithm algorithm,
                      const std::vector<std::int64_t>& counts) {
  for (const auto nodes : counts) {
    const auto expected = by_formula(algorithm, nodes);
    EXPECT_NEAR(seconds_of(one_bucket(star(nodes), simulated_one)) / expected, 1, 1e-3) << nodes;
    EXPECT_NEAR(seconds_of(one_bucket(fat_tree(nodes, 5, 1), simulated_one)) / expected, 1, 1e-3) << nodes;
  }
}

TEST(Simulate, ARingTakesWhatTheFormulaSays) {
  expect_agreement(SimulatedAlgorithm::ring, model::CollectiveAlgorithm::ring, {2, 3, 4, 8, 16, 64, 256, 1024});
}

TEST(Simulate, HalvingAndDoublingTakesWhatTheFormulaSays) {
  expect_agreement(SimulatedAlgorithm::halving_doubling, model::CollectiveAlgorithm::halving_doubling,
                   {2, 3, 4, 6, 8, 16, 64, 256, 1024});
}

TEST(Simulate, ATreeTakesWhatTheFormulaSays) {
  expect_agreement(SimulatedAlgorithm::binary_tree, model::CollectiveAlgorithm::binary_tree,
                   {2, 3, 4, 8, 16, 64, 256, 1024});
}

TEST(Simulate, AHierarchyTakesWhatTheFormulaSays) {
  for (const bool shared : {false, true}) {
    auto request = one_bucket(star(16, 8), SimulatedAlgorithm::hierarchical);
    request.shared_nic = shared;
    const model::Nodes nodes{link_of(kInside), link_of(kAcross), 16, 8, shared};
    EXPECT_NEAR(seconds_of(request) / model::hierarchical_all_reduce_seconds(nodes, kBytes), 1, 1e-3) << shared;
  }
}

/// 4 nodes of 8 devices, each a rank. Every one of the 2 (32 - 1) steps of the ring waits for its slowest message,
/// which is the one between nodes; a node has one of those in each direction. So it takes what 32 ranks take that are
/// all joined by the slow link.
TEST(Simulate, AFlatRingIsAsSlowAsItsSlowestLink) {
  EXPECT_NEAR(
      seconds_of(one_bucket(star(4, 8), SimulatedAlgorithm::ring)) / by_formula(model::CollectiveAlgorithm::ring, 32),
      1, 1e-3);
}

/// 4 nodes of 2 devices, 8 ranks. Rank distance 1 stays inside: n/8 there and back. Distances 2 and 4 leave the node
/// with n/4 and n/2 from each of its devices, which share the link: 2 (2 L + (1/4 + 1/2) n 2 / B).
TEST(Simulate, DevicesShareANodesLink) {
  auto request = one_bucket(star(4, 2), SimulatedAlgorithm::halving_doubling);
  request.shared_nic = true;
  const double n = kBytes;
  const double inside = 2 * (kInside.latency_seconds + n / 8 / kInside.bandwidth_bytes_per_second);
  const double latency = 4 * kAcross.latency_seconds;
  const double alone = 2 * 0.75 * n / kAcross.bandwidth_bytes_per_second;
  EXPECT_NEAR(seconds_of(request) / (inside + latency + 2 * alone), 1, 1e-3);
  request.shared_nic = false;  // a rail each: nothing is shared
  EXPECT_NEAR(seconds_of(request) / (inside + latency + alone), 1, 1e-3);
}

/// 64 nodes in leaves of 16, uplinks oversubscribed 4 to 1: an uplink carries 16 / 4 = 4 times what a node sends.
/// Distances 1 to 8 stay in a leaf. At distances 16 and 32 all 16 nodes of a leaf send through its uplink, so each gets
/// 4 / 16 of its own rate. Distance d carries n d / 64, twice:
///   2 (6 L + (1 + 2 + 4 + 8 + 4 (16 + 32)) / 64 n / B) = 12 L + 2 * 207/64 n / B, against 2 * 63/64 n / B without.
TEST(Simulate, HalvingAndDoublingPaysForTheUplinksOfALeaf) {
  const auto request = one_bucket(fat_tree(64, 16, 4), SimulatedAlgorithm::halving_doubling);
  const double expected = 12 * kAcross.latency_seconds +
                          2 * (207.0 / 64) * static_cast<double>(kBytes) / kAcross.bandwidth_bytes_per_second;
  EXPECT_NEAR(seconds_of(request) / expected, 1, 0.01);
}

/// A ring in the order of nodes crosses each uplink once in each direction. Even at 16 to 1 the uplink of 16 nodes is
/// as fast as a node; at 32 to 1 it has half of that, and every step waits for the messages between leaves.
TEST(Simulate, ARingPaysForUplinksOnlyBelowTheRateOfANode) {
  const auto free = by_formula(model::CollectiveAlgorithm::ring, 64);
  for (const double oversubscription : {4.0, 16.0}) {
    EXPECT_NEAR(seconds_of(one_bucket(fat_tree(64, 16, oversubscription), SimulatedAlgorithm::ring)) / free, 1, 1e-3);
  }
  const double latency = 126 * kAcross.latency_seconds;
  EXPECT_NEAR(seconds_of(one_bucket(fat_tree(64, 16, 32), SimulatedAlgorithm::ring)) / (latency + 2 * (free - latency)),
              1, 0.01);
}

/// Leaves of 16, 4 to 1. Level 16 of the tree is one message from a leaf, so no level is slowed.
TEST(Simulate, ATreeSendsTooLittleToFillAnUplink) {
  EXPECT_NEAR(seconds_of(one_bucket(fat_tree(64, 16, 4), SimulatedAlgorithm::binary_tree)) /
                  by_formula(model::CollectiveAlgorithm::binary_tree, 64),
              1, 1e-3);
}

/// A collective of c seconds each. Buckets are ready at 1 and 2 s, on the slowest node at 1.5 and 3 s, where the
/// backward pass ends at 3.3 s. The first bucket: 1.5 to 1.5 + c. The second: 3 to 3 + c. c is .15 s: the iteration
/// ends with the computation.
TEST(Simulate, ACollectiveWaitsForTheSlowestNode) {
  auto request = one_bucket(star(16), SimulatedAlgorithm::ring);
  request.buckets = {{1, kBytes}, {2, kBytes}};
  request.compute_seconds = 2.2;
  request.stragglers = {{3, 1.2}, {7, 1.5}};
  const auto answer = simulated(request);
  const auto c = by_formula(model::CollectiveAlgorithm::ring, 16);
  ASSERT_EQ(answer.buckets.size(), 2u);
  EXPECT_DOUBLE_EQ(answer.buckets[0].begin_seconds, 1.5);
  EXPECT_NEAR(answer.buckets[0].end_seconds, 1.5 + c, 1e-3 * c);
  EXPECT_DOUBLE_EQ(answer.buckets[1].begin_seconds, 3);
  EXPECT_NEAR(answer.buckets[1].end_seconds, 3 + c, 1e-3 * c);
  EXPECT_DOUBLE_EQ(answer.iteration_seconds, 2.2 * 1.5);
}

/// Ready together: one follows the other, and the iteration ends with the last, c and half of c later.
TEST(Simulate, BucketsFollowOneAnother) {
  auto request = one_bucket(star(16), SimulatedAlgorithm::ring);
  request.across.latency_seconds = 0;
  request.buckets = {{1, kBytes}, {1, kBytes / 2}, {1, 0}};
  request.compute_seconds = 1;
  const auto answer = simulated(request);
  const double c = 2 * 15.0 / 16 * static_cast<double>(kBytes) / kAcross.bandwidth_bytes_per_second;
  EXPECT_NEAR(answer.buckets[1].begin_seconds, 1 + c, 1e-3 * c);
  EXPECT_NEAR(answer.iteration_seconds, 1 + 1.5 * c, 1e-3 * c);
  EXPECT_EQ(answer.flows, 16) << "all steps of all buckets have the same messages";
  EXPECT_GT(answer.peak_resident_bytes, 1 << 20);
  EXPECT_GT(answer.wall_seconds, 0);
}

/// The ring's message from node 0 to node 1 shares its links with the background. With k flows beside it, it gets
/// 1 / (k + 1) of the rate; beside a flow of a quarter of the rate, three quarters. All steps wait for it.
TEST(Simulate, BackgroundTakesItsShare) {
  auto request = one_bucket(star(8), SimulatedAlgorithm::ring);
  const double latency = 14 * kAcross.latency_seconds;
  const double alone = by_formula(model::CollectiveAlgorithm::ring, 8) - latency;
  request.background = {{0, 1, {}, 1}};
  EXPECT_NEAR(seconds_of(request) / (latency + 2 * alone), 1, 0.01);
  request.background = {{0, 1, {}, 3}};
  EXPECT_NEAR(seconds_of(request) / (latency + 4 * alone), 1, 0.01);
  request.background = {{0, 1, kAcross.bandwidth_bytes_per_second / 4, {}}};
  EXPECT_NEAR(seconds_of(request) / (latency + alone / 0.75), 1, 0.01);
}

/// A tree of two: node 1 sends all to 0, and 0 sends all back. Three flows of others from 0 to 1 meet the way back
/// only, which takes 4 times as long.
TEST(Simulate, BackgroundLoadsOneDirection) {
  auto request = one_bucket(star(2), SimulatedAlgorithm::binary_tree);
  request.background = {{0, 1, {}, 3}};
  const double message = static_cast<double>(kBytes) / kAcross.bandwidth_bytes_per_second;
  EXPECT_NEAR(seconds_of(request) / (2 * kAcross.latency_seconds + (1 + 4) * message), 1, 0.01);
}

/// Four devices share a node's link, each in a ring of its own with a fourth of the buffer: 4 flows, beside which one
/// flow of others gets a fifth of the rate. So they take 5/4 of what they take alone.
TEST(Simulate, EachStreamOfANodeHoldsItsOwnAgainstTheBackground) {
  auto request = one_bucket(star(8, 4), SimulatedAlgorithm::hierarchical);
  request.shared_nic = true;
  const model::Nodes nodes{link_of(kInside), {0, 1 / kAcross.bandwidth_bytes_per_second, 0}, 8, 4, true};
  const model::Nodes inside_only{link_of(kInside), {}, 8, 4, true};
  const double inside = model::hierarchical_all_reduce_seconds(inside_only, kBytes);
  const double across = model::hierarchical_all_reduce_seconds(nodes, kBytes) - inside;
  request.background = {{0, 1, {}, 1}};
  EXPECT_NEAR(seconds_of(request) / (inside + 14 * kAcross.latency_seconds + across * 5 / 4), 1, 0.01);
}

/// Background from leaf 0 to leaf 1 on a node that the ring does not cross leaves with: 2 nodes a leaf at 2 to 1, so an
/// uplink is as fast as a node. Ring 0 1 | 2 3; background from 0 to 3. Leaf 0's uplink carries it and the message from
/// 1 to 2: half each. On node 0's link it meets the message from 0 to 1, and takes half or less of it too.
TEST(Simulate, BackgroundMeetsOthersOnUplinks) {
  auto request = one_bucket(fat_tree(4, 2, 2), SimulatedAlgorithm::ring);
  request.background = {{0, 3, {}, 1}};
  const double latency = 6 * kAcross.latency_seconds;
  const double alone = by_formula(model::CollectiveAlgorithm::ring, 4) - latency;
  EXPECT_NEAR(seconds_of(request) / (latency + 2 * alone), 1, 0.01);
}

/// Why one size is enough (SimulatedNetwork::cost): simulated directly, other sizes take what the law says. Two streams
/// on an oversubscribed tree beside background; messages end at different times.
TEST(Simulate, OneSizeTellsTheTimeOfAll) {
  const auto ratios = in_a_child([] {
    SimulatedNetwork network(fat_tree(16, 4, 4), kAcross, {{0, 5, {}, 2}, {3, 9, 2e8, {}}});
    SimulatedSends sends(16);
    for (std::int32_t node = 0; node < 16; ++node) sends[static_cast<std::size_t>(node)] = (node + 3) % 16;
    const auto cost = network.cost(sends, 2);
    auto out = json::array();
    for (const std::uint64_t bytes : {1'000'000ull, 30'000'000ull, 20'000'000'000ull}) {
      const double expected = cost.latency_seconds + static_cast<double>(bytes) * cost.seconds_per_byte;
      out.push_back(network.seconds(sends, 2, bytes) / expected);
    }
    return out;
  });
  for (const auto& ratio : ratios) EXPECT_NEAR(ratio.get<double>(), 1, 2e-3);
}

TEST(Simulate, OneNodeNeedsNoNetwork) {
  auto request = one_bucket(star(1, 8), SimulatedAlgorithm::hierarchical);
  // A ring of 8 inside: 14 messages of an eighth.
  const double expected = 14 * (kInside.latency_seconds + kBytes / 8.0 / kInside.bandwidth_bytes_per_second);
  const auto answer = simulate(request);
  EXPECT_NEAR(answer.iteration_seconds / expected, 1, 1e-12);
  EXPECT_EQ(answer.flows, 0);
}

TEST(Simulate, ARequestOutOfRangeIsRefused) {
  auto request = one_bucket(star(2), SimulatedAlgorithm::ring);
  request.buckets[0].bytes = -1;
  EXPECT_THROW(simulate(request), Error);
}

}  // namespace
}  // namespace assay::predict
