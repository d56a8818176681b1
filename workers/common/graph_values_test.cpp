#include "workers/common/graph_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "assay/core/workloads/learning.hpp"

namespace assay::worker {
namespace {

const float* reals(const Value& value) {
  return static_cast<const float*>(value.data.get());
}

/// conv1 and conv2 into a sum by two batch norms, of which the second is farther from the input.
Graph residual() {
  Graph graph;
  graph.inputs = {{"image", {8, 4, 4}, "real", {}}, {"tokens", {50}, "integer", 7}};
  const auto add = [&](const std::string& name, const std::string& op, std::vector<std::string> inputs,
                       std::vector<GraphParameter> parameters) {
    graph.nodes.push_back({name, op, std::move(inputs), json::object(), {8, 4, 4}, std::move(parameters)});
  };
  add("conv1", "convolution", {"image"}, {{"weight", {500, 8, 5, 3}}, {"bias", {8}}});
  add("norm1", "batch_norm", {"conv1"}, {{"weight", {1000}}, {"bias", {1000}}});
  add("conv2", "convolution", {"norm1"}, {{"weight", {8, 8, 1, 1}}});
  add("norm2", "batch_norm", {"conv2"}, {{"weight", {1000}}, {"bias", {1000}}});
  add("sum", "add", {"norm2", "norm1"}, {});
  return graph;
}

Prepare seeded(std::int64_t seed, std::int64_t instance = 0) {
  Prepare prepare;
  prepare.workload.batch = 100;
  prepare.seed = seed;
  prepare.instance = instance;
  return prepare;
}

bool same(const Value& a, const Value& b) {
  return a.shape == b.shape && std::equal(reals(a), reals(a) + a.elements(), reals(b));
}

TEST(GraphValues, weights_follow_from_the_seed_and_inputs_from_the_process) {
  const Graph graph = residual();
  const Prepare one = seeded(1), again = seeded(1), other = seeded(2), neighbour = seeded(1, 1);
  const auto weight = [&](const Prepare& prepare) {
    return GraphValues(prepare, graph).parameter(graph.nodes[0], graph.nodes[0].parameters[0]);
  };
  const auto image = [&](const Prepare& prepare) { return GraphValues(prepare, graph).input(graph.inputs[0]); };
  EXPECT_TRUE(same(weight(one), weight(again)));
  EXPECT_TRUE(same(weight(one), weight(neighbour)));
  EXPECT_FALSE(same(weight(one), weight(other)));
  EXPECT_TRUE(same(image(one), image(again)));
  EXPECT_FALSE(same(image(one), image(neighbour)));
}

TEST(GraphValues, weights_are_uniform_within_their_range) {
  const Graph graph = residual();
  const Prepare prepare = seeded(1);
  const auto value = GraphValues(prepare, graph).parameter(graph.nodes[0], graph.nodes[0].parameters[0]);
  // sqrt(6 / (8 * 5 * 3)) = 0.2236; 60,000 values, so that the extremes come close and the mean of squares is half^2
  // / 3.
  const double half = 0.223607;
  const auto [low, high] = std::minmax_element(reals(value), reals(value) + value.elements());
  EXPECT_NEAR(*low, -half, 1e-3);
  EXPECT_NEAR(*high, half, 1e-3);
  EXPECT_LE(*high, half);
  double squares = 0;
  for (std::size_t i = 0; i < value.elements(); ++i) squares += double{reals(value)[i]} * reals(value)[i];
  EXPECT_NEAR(squares / static_cast<double>(value.elements()), half * half / 3, 2e-4);
}

// assay_graph.values_of() in Python, of a prepare with seed 5 and these parameters.
TEST(GraphValues, a_network_that_learns_digits_begins_as_in_every_framework) {
  Graph graph;
  graph.nodes = {
      {"conv1", "convolution", {"image"}, json::object(), {8, 8, 8}, {{"weight", {8, 1, 3, 3}}, {"bias", {8}}}}};
  Prepare prepare = seeded(5);
  prepare.workload.data = kDigits;
  const GraphValues values(prepare, graph);
  const auto weight = values.parameter(graph.nodes[0], graph.nodes[0].parameters[0]);
  const auto bias = values.parameter(graph.nodes[0], graph.nodes[0].parameters[1]);
  const auto first = [](const Value& value) { return std::vector<float>(reals(value), reals(value) + 4); };
  EXPECT_THAT(first(weight), testing::ElementsAre(-0x1.1ec2p-1F, -0x1.7f9e0cp-2F, 0x1.cd86p-8F, 0x1.179368p-1F));
  EXPECT_THAT(first(bias), testing::ElementsAre(-0x1.6fba3p-7F, 0x1.1a8352p-5F, 0x1.7b44eep-5F, 0x1.cbd148p-7F));
}

TEST(GraphValues, the_norm_that_ends_a_residual_branch_is_damped) {
  const Graph graph = residual();
  const Prepare prepare = seeded(1);
  const GraphValues values(prepare, graph);
  const auto middle = [&](const GraphNode& node) { return reals(values.parameter(node, node.parameters[0]))[0]; };
  EXPECT_NEAR(middle(graph.nodes[1]), 1, 0.1);
  EXPECT_NEAR(middle(graph.nodes[3]), 0.2, 0.02);
  EXPECT_NEAR(reals(values.statistic(graph.nodes[3], "variance"))[0], 1, 0.2);
  EXPECT_EQ(values.statistic(graph.nodes[3], "mean").shape, (Shape{8}));
}

TEST(GraphValues, inputs_are_standard_normal_or_below_their_bound) {
  const Graph graph = residual();
  const Prepare prepare = seeded(3);
  const GraphValues values(prepare, graph);
  const auto image = values.input(graph.inputs[0]);
  ASSERT_EQ(image.shape, (Shape{100, 8, 4, 4}));
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < image.elements(); ++i) {
    sum += reals(image)[i];
    squares += double{reals(image)[i]} * reals(image)[i];
  }
  const auto count = static_cast<double>(image.elements());  // 12,800: the mean has a deviation of 0.009
  EXPECT_NEAR(sum / count, 0, 0.04);
  EXPECT_NEAR(squares / count, 1, 0.06);
  const auto tokens = values.input(graph.inputs[1]);
  const auto* numbers = static_cast<const std::int64_t*>(tokens.data.get());
  for (std::int64_t number = 0; number < 7; ++number) {  // 5000 of them: about 714 each
    EXPECT_NEAR(static_cast<double>(std::count(numbers, numbers + tokens.elements(), number)), 714, 120);
  }
}

TEST(GraphValues, targets_are_classes_one_for_each_row_of_the_output) {
  Graph graph = residual();
  graph.nodes.push_back({"rows", "linear", {"sum"}, json::object(), {50, 7}, {}});
  graph.output = "rows";
  Prepare prepare = seeded(3);
  const auto drawn = GraphValues(prepare, graph).target();
  ASSERT_EQ(drawn.type, ValueType::integer);
  ASSERT_EQ(drawn.shape, (Shape{100, 50}));
  const auto* numbers = static_cast<const std::int64_t*>(drawn.data.get());
  for (std::int64_t number = 0; number < 7; ++number) {  // 5000 of them: about 714 each
    EXPECT_NEAR(static_cast<double>(std::count(numbers, numbers + drawn.elements(), number)), 714, 120);
  }
  auto [given, data] = make_integer({100, 50});
  std::fill_n(data, given.elements(), 5);
  prepare.values = testing::TempDir() + "/assay_graph_target";
  write_values(*prepare.values, {{"target", given}});
  const auto read = GraphValues(prepare, graph).target();
  EXPECT_EQ(static_cast<const std::int64_t*>(read.data.get())[4999], 5);
  graph.output = "sum";  // [8, 4, 4]: another shape than the file's
  EXPECT_THROW(GraphValues(prepare, graph).target(), Error);
  graph.output = "nowhere";
  EXPECT_THROW(GraphValues(prepare, graph).target(), Error);
  std::remove(prepare.values->c_str());
}

TEST(GraphValues, a_file_that_does_not_fit_the_graph_is_named) {
  const Graph graph = residual();
  Prepare prepare = seeded(1);
  prepare.values = testing::TempDir() + "/assay_graph_values";
  write_values(*prepare.values, {{"conv1/weight", make_real({1, 2}).first}});
  const GraphValues values(prepare, graph);
  const auto error_of = [&](const GraphParameter& parameter) -> std::string {
    try {
      values.parameter(graph.nodes[0], parameter);
      return "no error";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(error_of({"weight", {2, 1}}), testing::HasSubstr("is F32 [1, 2]; the graph needs F32 [2, 1]"));
  EXPECT_THAT(error_of({"bias", {2}}), testing::HasSubstr("has no tensor 'conv1/bias'"));
  EXPECT_EQ(error_of({"weight", {1, 2}}), "no error");
  std::remove(prepare.values->c_str());
}

}  // namespace
}  // namespace assay::worker
