#include "assay/predict/simulation/simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "assay/predict/simulation/simulate_steps.hpp"

namespace assay::predict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SimulationRequest small_request() {
  SimulationRequest request;
  request.topology = {TopologyKind::fat_tree, 6, 2, 2, 4};
  request.across = {5e-6, 1e9};
  request.inside = SimulatedLink{1e-6, 1e11};
  request.buckets = {{0.1, 1000}, {0.2, 0}};
  request.compute_seconds = 0.3;
  request.stragglers = {{5, 1.5}};
  request.background = {{0, 5, 1e8, {}}, {1, 2, {}, 3}};
  return request;
}

std::string refusal_of(const SimulationRequest& request) {
  try {
    check_simulation(request);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

TEST(Simulation, ARequestTravelsAsJson) {
  const auto text = to_json(small_request()).dump();
  EXPECT_EQ(to_json(parse_simulation(text)).dump(), text);
  EXPECT_EQ(parse_simulation(text).background[1].flows, 3);
}

TEST(Simulation, WhatIsNoRequestIsRefusedByName) {
  EXPECT_THROW(parse_simulation("{"), Error);
  auto request = to_json(small_request());
  request["topology"]["kind"] = "torus";
  EXPECT_THROW(parse_simulation(request.dump()), Error);
  request = to_json(small_request());
  request["topology"]["nodes"] = 1.5;
  EXPECT_THROW(parse_simulation(request.dump()), Error);
  request.erase("topology");
  EXPECT_THROW(parse_simulation(request.dump()), Error);
}

TEST(Simulation, ValuesOutOfRangeAreRefusedByName) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<const char*, std::function<void(SimulationRequest&)>>> cases{
      {"topology.nodes is 0", [](auto& r) { r.topology.nodes = 0; }},
      {"topology.nodes is 1000001", [](auto& r) { r.topology.nodes = 1'000'001; }},
      {"topology.devices_per_node is 0", [](auto& r) { r.topology.devices_per_node = 0; }},
      {"topology.nodes_per_leaf is 0", [](auto& r) { r.topology.nodes_per_leaf = 0; }},
      {"topology.oversubscription is 0.5", [](auto& r) { r.topology.oversubscription = 0.5; }},
      {"across.latency_seconds is -1", [](auto& r) { r.across.latency_seconds = -1; }},
      {"across.bandwidth_bytes_per_second is 0", [](auto& r) { r.across.bandwidth_bytes_per_second = 0; }},
      {"inside.bandwidth_bytes_per_second is inf", [=](auto& r) { r.inside->bandwidth_bytes_per_second = infinity; }},
      {"Give the link `inside`", [](auto& r) { r.inside.reset(); }},
      {"compute_seconds is nan", [=](auto& r) { r.compute_seconds = nan; }},
      {"buckets[1].bytes is -1", [](auto& r) { r.buckets[1].bytes = -1; }},
      {"buckets[0].ready_seconds is -1", [](auto& r) { r.buckets[0].ready_seconds = -1; }},
      {"stragglers[0].node is 6", [](auto& r) { r.stragglers[0].node = 6; }},
      {"stragglers[0].factor is 0.9", [](auto& r) { r.stragglers[0].factor = 0.9; }},
      {"background[0].to is -1", [](auto& r) { r.background[0].to = -1; }},
      {"background[0] goes from node 5 to itself", [](auto& r) { r.background[0].from = 5; }},
      {"background[0] needs either", [](auto& r) { r.background[0].flows = 1; }},
      {"has neither", [](auto& r) { r.background[1].flows.reset(); }},
      {"background[1].flows is 0", [](auto& r) { r.background[1].flows = 0; }},
  };
  EXPECT_EQ(refusal_of(small_request()), "");
  for (const auto& [expected, spoil] : cases) {
    auto request = small_request();
    spoil(request);
    EXPECT_THAT(refusal_of(request), HasSubstr(expected));
  }
}

TEST(Simulation, AStarHasNoLeavesToCheck) {
  auto request = small_request();
  request.topology.kind = TopologyKind::star;
  request.topology.nodes_per_leaf = 0;
  EXPECT_EQ(refusal_of(request), "");
}

TEST(Simulation, DoublingNeedsAPowerOfTwoOfDevices) {
  auto request = small_request();
  request.topology.devices_per_node = 6;
  EXPECT_EQ(refusal_of(request), "");
  for (const auto algorithm : {SimulatedAlgorithm::halving_doubling, SimulatedAlgorithm::binary_tree}) {
    request.algorithm = algorithm;
    EXPECT_THAT(refusal_of(request), HasSubstr("power of two, but it is 6. Use ring or hierarchical."));
  }
}

/// Six nodes of two devices. Four nodes are a full power of two, 8 ranks: distance 1 stays inside and carries 1/8 of
/// the buffer; rank distances 2 and 4 are node distances 1 and 2 and carry 2/8 and 4/8. Nodes 4 and 5 give all to 0
/// and 1 and get it back. Both devices of a node send at once.
TEST(SimulateSteps, HalvingAndDoublingLeavesANodeAtTheDistanceOfItsDevices) {
  auto request = small_request();
  request.algorithm = SimulatedAlgorithm::halving_doubling;
  request.shared_nic = true;
  request.background.clear();
  const auto steps = simulated_steps(request);
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_TRUE(steps[0].inside && steps[0].sends.empty());
  EXPECT_DOUBLE_EQ(steps[0].share, 1.0 / 8);
  EXPECT_THAT(steps[1].sends, ElementsAre(1, 0, 3, 2, kNobody, kNobody));
  EXPECT_DOUBLE_EQ(steps[1].share, 2.0 / 8);
  EXPECT_EQ(steps[1].streams, 2);
  EXPECT_THAT(steps[2].sends, ElementsAre(2, 3, 0, 1, kNobody, kNobody));
  EXPECT_DOUBLE_EQ(steps[2].share, 4.0 / 8);
  EXPECT_THAT(steps[3].sends, ElementsAre(kNobody, kNobody, kNobody, kNobody, 0, 1));
  for (const auto& step : steps) EXPECT_EQ(step.times, 2);
}

/// A background loads one direction only, so that the way back must be simulated as well.
TEST(SimulateSteps, BesideABackgroundTheWayBackIsAStepOfItsOwn) {
  auto request = small_request();
  request.algorithm = SimulatedAlgorithm::binary_tree;
  request.topology.devices_per_node = 1;
  request.topology.nodes = 3;
  const auto steps = simulated_steps(request);
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_THAT(steps[0].sends, ElementsAre(kNobody, 0, kNobody));
  EXPECT_THAT(steps[1].sends, ElementsAre(1, kNobody, kNobody));
  EXPECT_THAT(steps[2].sends, ElementsAre(kNobody, kNobody, 0));
  EXPECT_THAT(steps[3].sends, ElementsAre(2, kNobody, kNobody));
  for (const auto& step : steps) EXPECT_EQ(step.times, 1);
}

TEST(SimulateSteps, OneDeviceOnOneNodeHasNothingToSend) {
  SimulationRequest request;
  for (const auto algorithm : {SimulatedAlgorithm::ring, SimulatedAlgorithm::halving_doubling,
                               SimulatedAlgorithm::binary_tree, SimulatedAlgorithm::hierarchical}) {
    request.algorithm = algorithm;
    EXPECT_TRUE(simulated_steps(request).empty());
  }
}

}  // namespace
}  // namespace assay::predict
