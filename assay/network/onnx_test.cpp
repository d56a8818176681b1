#include "assay/network/onnx.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/network/onnx_fixture.hpp"

namespace assay::network {
namespace {

using namespace onnx_bytes;
using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::string& bytes) {
  try {
    summarize_onnx(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "no error";
}

/// A convolution of 3 channels of 8 x 8 to 4 of 4 x 4, a norm, a ReLU, a mean and a linear layer to 5.
std::string small(std::int64_t batch) {
  const auto window =
      list_attribute("kernel_shape", {3, 3}) + list_attribute("strides", {2, 2}) + list_attribute("pads", {1, 1, 1, 1});
  return model(node("Conv", {"image", "w", "b"}, "conv", window) +
               node("BatchNormalization", {"conv", "scale", "shift", "mean", "variance"}, "norm",
                    real_attribute("epsilon", 1e-3F)) +
               node("Relu", {"norm"}, "relu") + node("GlobalAveragePool", {"relu"}, "pooled") +
               node("Flatten", {"pooled"}, "flat") +
               node("Gemm", {"flat", "w2", "b2"}, "fc", integer_attribute("transB", 1)) + weight("w", {4, 3, 3, 3}) +
               weight("b", {4}) + weight("scale", {4}) + weight("shift", {4}) + weight("mean", {4}) +
               weight("variance", {4}) + weight("w2", {5, 4}) + weight("b2", {5}) +
               value(11, "image", {batch, 3, 8, 8}) + value(12, "fc", {batch, 5}));
}

// FLOPs: 2 x 4 x 4 x 4 outputs x 27, and 2 x 5 x 4. Running statistics are no parameters.
TEST(Onnx, ASmallNetworkIsKnown) {
  for (const std::int64_t batch : {-1, 1, 7}) {
    const auto summary = summarize_onnx(small(batch));
    EXPECT_EQ(summary.parameters, 4 * 27 + 4 + 4 + 4 + 5 * 4 + 5);
    EXPECT_EQ(summary.flops, 2 * 64 * 27 + 2 * 5 * 4) << "of one sample, whatever the batch";
    EXPECT_EQ(summary.width.heavy, 2);
    EXPECT_EQ(summary.width.depth, 2);
    ASSERT_TRUE(summary.graph) << summary.why_no_graph;
    EXPECT_EQ(summary.graph->parameters, summary.parameters);
    EXPECT_EQ(cost_of(*summary.graph).total.flops, summary.flops);
    EXPECT_EQ(summary.graph->nodes.size(), 5u) << "mean and flatten are one";
    EXPECT_EQ(summary.graph->nodes[1].attributes.epsilon, 1e-3) << "as written, not as rounded to a float";
  }
}

// Attention with 2 heads of 3 features on 4 positions, shapes computed from the input's own: scores and mix take
// 2 x 2 heads x 4 x 4 x 3 each, the layer in front 2 x 4 x 6 x 6. A product of constants is none of the network's.
TEST(Onnx, ProductsCountWhereThereIsNoGraph) {
  const auto apart = node("Reshape", {"x", "apart"}, "split") +
                     node("Transpose", {"split"}, "heads", list_attribute("perm", {0, 2, 1, 3})) +
                     node("Transpose", {"heads"}, "keys", list_attribute("perm", {0, 1, 3, 2}));
  const auto shape = node("Shape", {"input"}, "shape") + node("Gather", {"shape", "zero"}, "batch") +
                     node("Concat", {"batch", "rest"}, "together", integer_attribute("axis", 0));
  const auto summary = summarize_onnx(model(
      node("MatMul", {"c", "c"}, "w") + node("MatMul", {"input", "w"}, "x") + apart + shape +
      node("MatMul", {"heads", "keys"}, "scores") + node("Softmax", {"scores"}, "shares") +
      node("MatMul", {"shares", "heads"}, "mix") +
      node("Transpose", {"mix"}, "back", list_attribute("perm", {0, 2, 1, 3})) +
      node("Reshape", {"back", "together"}, "y") + weight("c", {6, 6}) + integers("apart", {0, 0, 2, 3}) +
      integers("zero", {0}) + integers("rest", {-1, 6}) + value(11, "input", {-1, 4, 6}) + value(12, "y", {-1, 4, 6})));
  EXPECT_EQ(summary.flops, 2 * 4 * 6 * 6 + 2 * 2 * (2 * 4 * 4 * 3));
  EXPECT_EQ(summary.width.heavy, 3);
  EXPECT_EQ(summary.width.depth, 3);
  EXPECT_FALSE(summary.graph);
  EXPECT_THAT(summary.why_no_graph, HasSubstr("operator 'MatMul' (node 'x')"));
}

// A head with the transposed table of an embedding, and two layers with one weight. Used both ways round it is no
// graph.
TEST(Onnx, SharedWeightsCountOnce) {
  const auto net = [](const std::string& head) {
    return summarize_onnx(model(node("Gather", {"table", "ids"}, "words") + node("MatMul", {"words", "w"}, "a") +
                                node("MatMul", {"a", "w"}, "b") + head + weight("table", {11, 6}) +
                                weight("w", {6, 6}) + value(11, "ids", {-1, 4}, 7) + value(12, "y", {-1, 4, 11})));
  };
  const auto tied =
      net(node("Transpose", {"table"}, "t", list_attribute("perm", {1, 0})) + node("MatMul", {"b", "t"}, "y"));
  ASSERT_TRUE(tied.graph) << tied.why_no_graph;
  EXPECT_EQ(tied.graph->parameters, 11 * 6 + 6 * 6);
  EXPECT_EQ(tied.parameters, 11 * 6 + 6 * 6);
  EXPECT_EQ(tied.graph->nodes[2].attributes.shared, "a");
  EXPECT_EQ(tied.graph->nodes[3].attributes.shared, "words");
  EXPECT_EQ(tied.graph->inputs[0].below, 11);
  EXPECT_EQ(cost_of(*tied.graph).total.flops, tied.flops);

  const auto turned =
      net(node("Transpose", {"w"}, "t", list_attribute("perm", {1, 0})) + node("MatMul", {"b", "t"}, "y"));
  EXPECT_THAT(turned.why_no_graph, HasSubstr("shared the other way round"));
}

TEST(Onnx, WhatLeadsNowhereCostsNothing) {
  const auto summary = summarize_onnx(model(node("Relu", {"x"}, "y") + node("MatMul", {"x", "w"}, "dead") +
                                            weight("w", {4, 2}) + value(11, "x", {1, 4}) + value(12, "y", {1, 4})));
  EXPECT_EQ(summary.flops, 0);
  EXPECT_EQ(summary.width.heavy, 0);
  EXPECT_TRUE(summary.graph) << summary.why_no_graph;
}

TEST(Onnx, WhatIsNotKnownIsSaid) {
  const auto net = [](const std::string& values) {
    return model(node("Odd", {"x"}, "odd") + node("MatMul", {"odd", "w"}, "y") + weight("w", {4, 2}) +
                 value(11, "x", {1, 4}) + value(12, "y", {1, 2}) + values);
  };
  const auto blind = summarize_onnx(net(""));
  EXPECT_FALSE(blind.flops);
  EXPECT_EQ(blind.width.heavy, 1) << "the width needs no shapes";
  EXPECT_EQ(blind.parameters, 8);
  EXPECT_THAT(blind.why_no_graph, AllOf(HasSubstr("'Odd'"), HasSubstr("'odd'")));
  EXPECT_EQ(summarize_onnx(net(value(13, "odd", {1, 4}))).flops, 2 * 4 * 2) << "the file itself says the shape";

  const auto inside = summarize_onnx(
      model(node("LSTM", {"x", "w"}, "y") + weight("w", {4, 2}) + value(11, "x", {1, 4}) + value(12, "y", {1, 2})));
  EXPECT_FALSE(inside.flops);
  EXPECT_EQ(inside.width.heavy, 1);
}

TEST(Onnx, EachOperatorWithoutCounterpartIsNamed) {
  const auto why = [](const std::string& op, const std::string& attributes) {
    return summarize_onnx(
               model(node(op, {"x"}, "a", attributes) + value(11, "x", {1, 2, 8, 8}) + value(12, "a", {1, 2, 4, 4})))
        .why_no_graph;
  };
  EXPECT_THAT(why("LeakyRelu", ""), AllOf(HasSubstr("'LeakyRelu'"), HasSubstr("'a'")));
  const auto kernel = list_attribute("kernel_shape", {2, 2});
  EXPECT_THAT(why("MaxPool", kernel + list_attribute("dilations", {2, 2})), HasSubstr("dilation"));
  EXPECT_THAT(why("MaxPool", kernel + list_attribute("pads", {0, 0, 1, 1})), HasSubstr("sides"));
  EXPECT_THAT(why("Softmax", integer_attribute("axis", 1)), HasSubstr("axis"));
  EXPECT_EQ(why("MaxPool", kernel), "");
}

TEST(Onnx, NamesBecomeOnesOfAGraph) {
  const auto graph = summarize_onnx(model(node("Relu", {"/In put:0"}, "/A/Relu_output_0") +
                                          node("Tanh", {"/A/Relu_output_0"}, "/a/relu_output_0") +
                                          value(11, "/In put:0", {1, 2}) + value(12, "/a/relu_output_0", {1, 2})))
                         .graph;
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->inputs[0].name, "_in_put_0");
  EXPECT_EQ(graph->nodes[0].name, "_a_relu_output_0");
  EXPECT_EQ(graph->nodes[1].name, "_a_relu_output_0.2");
}

TEST(Onnx, SaysWhatIsWrong) {
  const auto io = value(11, "x", {1, 4}) + value(12, "y", {1, 4});
  EXPECT_THAT(error_of(""), HasSubstr("not an ONNX file"));
  EXPECT_THAT(error_of("this is text"), HasSubstr("not an ONNX file"));
  EXPECT_THAT(error_of(small(1).substr(0, 100)), HasSubstr("longer than what holds it"));
  EXPECT_THAT(error_of(model(node("Relu", {"z"}, "y") + io)), AllOf(HasSubstr("'z'"), HasSubstr("'Relu'")));
  EXPECT_THAT(error_of(model(node("Relu", {"x"}, "z") + io)), HasSubstr("output 'y'"));
  EXPECT_THAT(error_of(model(node("Relu", {"x"}, "y") + node("Relu", {"x"}, "y") + io)), HasSubstr("'y'"));
  EXPECT_THAT(error_of(model(node("MatMul", {"x", "w"}, "y") + weight("w", {3, 4}) + io)), HasSubstr("do not fit"));
  EXPECT_THAT(error_of(model(node("Relu", {"x"}, "y") + value(11, "x", {1, -1}) + value(12, "y", {1, 1}))),
              AllOf(HasSubstr("input 'x'"), HasSubstr("dimension 1"), HasSubstr("batch")));
  EXPECT_THAT(error_of(model(node("Relu", {"x"}, "y") + weight("w", {std::int64_t{1} << 39, 64}) + io)),
              HasSubstr("out of range"));
}

TEST(Onnx, AFileThatIsNotThereIsSaid) {
  EXPECT_THROW(read_onnx("/nowhere/net.onnx"), Error);
  EXPECT_THROW(read_onnx("/"), Error);
}

}  // namespace
}  // namespace assay::network
