#include "assay/predict/layer_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/predict/layer_sources/chakra_nodes.hpp"

namespace assay::predict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A node as PyTorch writes it, with the time that chakra_trace_link adds.
struct WrittenNode {
  std::int64_t id = 0;
  std::int64_t parent = 0;
  std::string name;
  double microseconds = 0;
  std::int64_t sequence = -1;
  std::int64_t scope = 0;
  std::int64_t values = 0;  // of the first input, 4 bytes each
  bool kernel = false;
};

std::string trace_of(const std::vector<WrittenNode>& nodes) {
  json written = json::array();
  for (const auto& node : nodes) {
    json one{{"id", node.id}, {"name", node.name}, {"ctrl_deps", node.parent}};
    one["attrs"] = {{{"name", "seq_id"}, {"value", node.sequence}}, {{"name", "scope"}, {"value", node.scope}}};
    if (node.microseconds > 0) one["exclusive_dur"] = node.microseconds;
    if (node.values > 0) one["inputs"] = {{"values", {{1, 2, 0, node.values, 4, "cpu"}}}};
    if (node.kernel) one["cat"] = "kernel";
    written.push_back(one);
  }
  return json{{"schema", "1.1.1-chakra.0.0.4"}, {"nodes", written}}.dump();
}

/// Two linear layers and a loss that is joined by number 3; each operator calls another.
std::vector<WrittenNode> a_step() {
  const std::string evaluate = "autograd::engine::evaluate_function: ";
  return {{1, 1, "[pytorch|profiler|execution_trace|process]", 0, -1, 7},
          {2, 1, "[pytorch|profiler|execution_trace|thread]", 0, -1, 7},
          {3, 2, "Optimizer.zero_grad#SGD.zero_grad", 1, -1, 7},
          {4, 2, "aten::linear", 10, 1},
          {5, 4, "aten::addmm", 20, 1},
          {6, 2, "aten::linear", 5, 2},
          {7, 6, "aten::addmm", 6, 2},
          {8, 2, "aten::detach", 2},
          {9, 2, "aten::loss", 3, 3},
          {20, 2, evaluate + "LossBackward0", 1},
          {21, 20, "LossBackward0", 4, 3, 1},
          {22, 2, evaluate + "AddmmBackward0", 0},
          {23, 22, "AddmmBackward0", 11, 2, 1},
          {24, 2, evaluate + "torch::autograd::AccumulateGrad", 1},
          {25, 24, "torch::autograd::AccumulateGrad", 1, -1, 1, 16},
          {26, 2, evaluate + "AddmmBackward0", 0},
          {27, 26, "AddmmBackward0", 30, 1, 1},
          {28, 2, evaluate + "torch::autograd::AccumulateGrad", 0},
          {29, 28, "torch::autograd::AccumulateGrad", 2, -1, 1, 100},
          {40, 2, "Optimizer.step#SGD.step", 0, -1, 7},
          {41, 40, "aten::_foreach_add_", 9}};
}

TEST(Chakra, JoinsBothPassesBySequenceNumbers) {
  // Forward: 10 + 20; 5 + 6 and the 2 of detach, which has no backward pass; 3. Backward: 30 + 2; 11 + 1 + 1; 1 + 4.
  const auto table = layer_sources::chakra.read(trace_of(a_step()), "t.json", 8);
  ASSERT_EQ(table.layers.size(), 3u);
  EXPECT_EQ(table.layers[0].name, "4 aten::linear");
  EXPECT_NEAR(table.layers[0].forward_seconds, 30e-6, 1e-12);
  EXPECT_NEAR(table.layers[0].backward_seconds, 32e-6, 1e-12);
  EXPECT_THAT(table.layers[0].gradient_bytes, ElementsAre(400));
  EXPECT_NEAR(table.layers[1].forward_seconds, 13e-6, 1e-12);
  EXPECT_NEAR(table.layers[1].backward_seconds, 13e-6, 1e-12);
  EXPECT_THAT(table.layers[1].gradient_bytes, ElementsAre(64));
  EXPECT_NEAR(table.layers[2].forward_seconds, 3e-6, 1e-12);
  EXPECT_NEAR(table.layers[2].backward_seconds, 5e-6, 1e-12);
  EXPECT_NEAR(table.update_seconds, 10e-6, 1e-12);  // of zero_grad and step
  EXPECT_EQ(table.batch, 8);
}

TEST(Chakra, CountsKernelsInPlaceOfTheHost) {
  auto nodes = a_step();
  nodes.push_back({50, 5, "gemm", 100, -1, 0, 0, true});
  nodes.push_back({51, 27, "gemm", 200, -1, 0, 0, true});
  const auto table = layer_sources::chakra.read(trace_of(nodes), "t.json", 8);
  EXPECT_NEAR(table.layers[0].forward_seconds, 100e-6, 1e-12);
  EXPECT_NEAR(table.layers[0].backward_seconds, 200e-6, 1e-12);
  EXPECT_NEAR(table.layers[1].forward_seconds, 0, 1e-12);
}

TEST(Chakra, JoinsByNamesWhereThereAreNoNumbers) {
  const auto table = layer_sources::chakra.read(trace_of({{1, 0, "COMP_NODE_conv_FWD", 3},
                                                          {2, 0, "COMP_NODE_fc_FWD", 4},
                                                          {3, 0, "COMP_NODE_fc_BWD_WG", 5},
                                                          {4, 0, "COMP_NODE_fc_BWD_IG", 6},
                                                          {5, 0, "COMP_NODE_conv_BWD_WG", 7},
                                                          {6, 5, "torch::autograd::AccumulateGrad", 1, -1, 0, 2}}),
                                                "t.json", 1);
  ASSERT_EQ(table.layers.size(), 2u);
  EXPECT_NEAR(table.layers[1].backward_seconds, 11e-6, 1e-12);
  EXPECT_NEAR(table.layers[0].backward_seconds, 8e-6, 1e-12);
}

std::string refusal_of_chakra(const std::string& trace) {
  try {
    static_cast<void>(layer_sources::chakra.read(trace, "t.et", 1));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Chakra, SaysWhatIsMissing) {
  auto nodes = a_step();
  for (auto& node : nodes) node.microseconds = 0;
  EXPECT_THAT(refusal_of_chakra(trace_of(nodes)), HasSubstr("chakra_trace_link"));
  EXPECT_THAT(refusal_of_chakra(trace_of({{1, 0, "a", 1}})), HasSubstr("no backward pass"));
  EXPECT_THAT(refusal_of_chakra(trace_of({{1, 0, "a_fwd", 1}, {2, 0, "a_bwd", 1}})), HasSubstr("shows no gradients"));
  EXPECT_THAT(refusal_of_chakra(trace_of({{1, 0, "a_fwd", 1}, {2, 0, "a_fwd", 1}, {3, 0, "a_bwd", 1}})),
              HasSubstr("'a_fwd' runs 2 times"));
  EXPECT_THAT(refusal_of_chakra(trace_of({{1, 2, "a", 1}, {2, 1, "b", 1}})), HasSubstr("in a circle"));
  EXPECT_THAT(refusal_of_chakra("{}"), HasSubstr("neither traceEvents nor nodes"));
  EXPECT_THAT(refusal_of_chakra("no trace"), HasSubstr("neither JSON nor a Chakra trace"));
  EXPECT_THAT(refusal_of_chakra(""), HasSubstr("no nodes"));
}

TEST(Chakra, TellsJsonFromProtobuf) {
  EXPECT_TRUE(is_json_object("\n { \"schema\": 1}"));
  EXPECT_TRUE(is_json_object("{}"));
  // A GlobalMetadata of 123 bytes begins with a brace, and then a version of 5 bytes.
  EXPECT_FALSE(
      is_json_object("{\n\x05"
                     "0.0.4"));
  EXPECT_FALSE(is_json_object(""));
}

}  // namespace
}  // namespace assay::predict
