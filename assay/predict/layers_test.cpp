#include "assay/predict/layers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/network/cost.hpp"
#include "assay/network/network.hpp"

namespace assay::predict {
namespace {

const Device kDevice{"d", 10e12, 500e9, 16e9, 10e9, {0.4, 0.6}};

TEST(Layers, OfAWhatIfAddUpToTheNetwork) {
  const auto graph = network::build("resnet50");
  const auto table = assumed_layers(graph, {8, "fp32"}, kDevice, 0.5);
  EXPECT_DOUBLE_EQ(table.gradient_bytes(), 4.0 * 25'557'032);
  // No less than its products take at half the peak; memory adds to it.
  const double products = 8 * network::cost_of(graph).total.flops / 5e12;
  EXPECT_GE(table.forward_seconds(), products);
  EXPECT_LE(table.forward_seconds(), 2 * products);
  EXPECT_DOUBLE_EQ(table.backward_seconds(), 2 * table.forward_seconds());
  EXPECT_DOUBLE_EQ(table.transfer_seconds, 8 * 4.0 * 3 * 224 * 224 / 10e9);
  EXPECT_DOUBLE_EQ(table.stored_bytes, 8.0 * 3 * 224 * 224);
  EXPECT_DOUBLE_EQ(table.update_seconds, 20.0 * 25'557'032 / 500e9);
}

TEST(Layers, NeedAPeakOrARecord) {
  EXPECT_THROW(static_cast<void>(assumed_layers(network::build("alexnet"), {}, Device{}, 0.5)), Error);
  EXPECT_THROW(static_cast<void>(measured_layers(network::build("alexnet"), {}, RankResult{})), Error);
}

TEST(Layers, OfARecordAreScaledToItsPhases) {
  const auto graph = network::build("alexnet");
  RankResult result;
  result.phases_ns = {
      {"forward", {2'000'000, 2'000'000}}, {"backward", {6'000'000}}, {"update", {500'000}}, {"load", {1'000'000}}};
  for (const auto& node : graph.nodes) result.layers.push_back({node.name, {1'000}, {5'000}});
  const auto table = measured_layers(graph, {4, "fp32"}, result);
  EXPECT_NEAR(table.forward_seconds(), 2e-3, 1e-12);
  EXPECT_NEAR(table.backward_seconds(), 6e-3, 1e-12);
  EXPECT_NEAR(table.layers.front().forward_seconds, 2e-3 / static_cast<double>(graph.nodes.size()), 1e-12);
  EXPECT_DOUBLE_EQ(table.update_seconds, 5e-4);
  EXPECT_DOUBLE_EQ(table.load_seconds, 1e-3);
  EXPECT_EQ(table.origin, Origin::measured);
}

TEST(Layers, WithoutTimesOfLayersPhasesAreSplitByFlops) {
  const auto graph = network::build("alexnet");
  RankResult result;
  result.phases_ns = {{"forward", {1'000'000}}, {"backward", {2'000'000}}};
  const auto table = measured_layers(graph, {1, "fp32"}, result);
  const auto cost = network::cost_of(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    EXPECT_NEAR(table.layers[i].backward_seconds, 2e-3 * cost.nodes[i].flops / cost.total.flops, 1e-12);
  }
}

TEST(Layers, OfAnotherBatchGrowWithItWhereSamplesDo) {
  const auto table = assumed_layers(network::build("alexnet"), {8, "fp32"}, kDevice, 0.5);
  const auto twice = at_batch(table, 16);
  EXPECT_DOUBLE_EQ(twice.forward_seconds(), 2 * table.forward_seconds());
  EXPECT_DOUBLE_EQ(twice.activation_bytes(), 2 * table.activation_bytes());
  EXPECT_DOUBLE_EQ(twice.gradient_bytes(), table.gradient_bytes());
  EXPECT_DOUBLE_EQ(twice.update_seconds, table.update_seconds);
}

TEST(Layers, OfAUserAreReadWithTheirUnits) {
  const auto table =
      parse_layers("layer,forward_ms,backward_us,gradient_bytes\na,1,2000,100;8\nb,0.5,1000,\n", "t.csv", 4);
  ASSERT_EQ(table.layers.size(), 2u);
  EXPECT_DOUBLE_EQ(table.forward_seconds(), 1.5e-3);
  EXPECT_DOUBLE_EQ(table.backward_seconds(), 3e-3);
  EXPECT_THAT(table.layers[0].gradient_bytes, testing::ElementsAre(100, 8));
  EXPECT_TRUE(table.layers[1].gradient_bytes.empty());
  EXPECT_EQ(table.origin, Origin::imported);
  for (const char* bad :
       {"layer,forward_ms\na,1\n", "layer,forward_ms,backward_ms,gradient_bytes\na,x,1,1\n",
        "layer,forward_ms,backward_ms,gradient_bytes\na,1,1,-4\n", "layer,forward_ms,backward_ms,gradient_bytes\n"}) {
    EXPECT_THROW(static_cast<void>(parse_layers(bad, "t.csv", 1)), Error) << bad;
  }
}

}  // namespace
}  // namespace assay::predict
