#include "assay/network/step_cost.hpp"

#include <gtest/gtest.h>

#include "assay/network/cost.hpp"
#include "assay/network/network.hpp"

namespace assay::network {
namespace {

Workload workload(const std::string& network, std::map<std::string, Scalar> options = {}, std::int64_t batch = 1,
                  const std::string& precision = "fp32") {
  Workload out;
  out.network = network;
  out.options = std::move(options);
  out.batch = batch;
  out.precision = precision;
  return out;
}

Scalar number(std::int64_t value) {
  return value;
}

void expect_cost(const Workload& asked, double flops, double bytes) {
  const auto cost = step_cost(asked);
  ASSERT_TRUE(cost) << asked.network;
  EXPECT_DOUBLE_EQ(cost->flops, flops) << asked.network;
  ASSERT_TRUE(cost->least_bytes) << asked.network;
  EXPECT_DOUBLE_EQ(*cost->least_bytes, bytes) << asked.network;
}

// 2 x 2 x 3 x 5 = 60; matrices of 10, 15 and 6 numbers.
TEST(StepCost, OfMatrixProducts) {
  const std::map<std::string, Scalar> sizes{{"m", number(2)}, {"n", number(3)}, {"k", number(5)}};
  expect_cost(workload("gemm", sizes), 60, 31 * 4);
  expect_cost(workload("gemm", sizes, 1, "bf16"), 60, 31 * 2);
  expect_cost(workload("gemm", sizes, 1, "int8"), 60, 25 + 6 * 4);
  expect_cost(workload("batched_gemm", sizes, 7), 7 * 60, 7 * 31 * 4);
}

// Along 5 with padding 1 a window of 3 fits (5 + 2 - 3) / 2 + 1 = 3 times. With 2 groups an output sees 2 of 4
// channels: a window of 2 x 3 x 3 = 18 values. 2 samples, 6 channels, 3 x 3: 108 outputs. 2 x 108 x 18 = 3888. Inputs 2
// x 4 x 5 x 5 = 200, weights 6 x 18 = 108, outputs 108.
TEST(StepCost, OfConvolutions) {
  std::map<std::string, Scalar> sizes{{"height", number(5)},       {"width", number(5)},  {"channels_in", number(4)},
                                      {"channels_out", number(6)}, {"stride", number(2)}, {"groups", number(2)}};
  for (const char* pass : {"forward", "backward_data", "backward_weights"}) {
    sizes["pass"] = std::string(pass);
    expect_cost(workload("conv2d", sizes, 2), 3888, 416 * 4);
  }
  sizes["pass"] = std::string("forward");
  expect_cost(workload("conv2d", sizes, 2, "int8"), 3888, 200 + 108 + 108 * 4);
}

// A window of 1 along one axis: 4 positions, 3 to 2 channels: 8 outputs, 2 x 8 x 3 = 48; 12 + 6 + 8 numbers. Along
// three axes of 2 with a window of 2: one position, 2 x 2 x 24 = 96; 24 + 48 + 2 numbers.
TEST(StepCost, OfConvolutionsAlongOneAndThreeAxes) {
  expect_cost(workload("conv1d", {{"width", number(4)},
                                  {"channels_in", number(3)},
                                  {"channels_out", number(2)},
                                  {"kernel", number(1)},
                                  {"padding", number(0)}}),
              48, 26 * 4);
  expect_cost(workload("conv3d", {{"depth", number(2)},
                                  {"height", number(2)},
                                  {"width", number(2)},
                                  {"channels_in", number(3)},
                                  {"channels_out", number(2)},
                                  {"kernel", number(2)},
                                  {"padding", number(0)}}),
              96, 74 * 4);
}

// ResNet-50's layers as primitives have the FLOPs that the network's graph gives them: conv1 236,027,904, and a 3 x 3
// of the second stage 2 x 64 x 56 x 56 x 576 = 231,211,008.
TEST(StepCost, OfAConvolutionIsThatOfItsLayer) {
  const auto graph = build("resnet50");
  const auto cost = cost_of(graph);
  const auto primitive = step_cost(workload("conv2d", {{"height", number(224)},
                                                       {"width", number(224)},
                                                       {"channels_in", number(3)},
                                                       {"channels_out", number(64)},
                                                       {"kernel", number(7)},
                                                       {"stride", number(2)},
                                                       {"padding", number(3)}}));
  EXPECT_DOUBLE_EQ(primitive->flops, 236'027'904);
  EXPECT_DOUBLE_EQ(cost.nodes[0].flops, 236'027'904);
  EXPECT_DOUBLE_EQ(step_cost(workload("conv2d"))->flops, 231'211'008);
}

// 2 samples x 3 heads x 4 positions = 24 rows. Scores: 24 x 4 x 5 products, values as many: 2 x 2 x 480 = 1920.
// Four tensors of 24 x 5 numbers.
TEST(StepCost, OfAttention) {
  expect_cost(workload("attention", {{"heads", number(3)}, {"sequence", number(4)}, {"head_features", number(5)}}, 2),
              1920, 4 * 120 * 4);
}

// lstm: 4 gates x 3 x (2 + 3) = 60 weights, each used for 2 samples at 5 times: 2 x 60 x 10 = 1200. Values: 10 x (2 +
// 3).
TEST(StepCost, OfRecurrentLayers) {
  std::map<std::string, Scalar> sizes{{"features", number(2)}, {"hidden", number(3)}, {"sequence", number(5)}};
  expect_cost(workload("rnn", sizes, 2), 1200, (60 + 50) * 4);
  sizes["cell"] = std::string("gru");
  expect_cost(workload("rnn", sizes, 2), 900, (45 + 50) * 4);
}

TEST(StepCost, OfWhatOnlyMovesMemory) {
  expect_cost(workload("embedding", {{"features", number(3)}, {"lookups", number(5)}}, 2), 0, 10 * (8 + 24));
  expect_cost(workload("layer_norm", {{"features", number(3)}, {"sequence", number(5)}}, 2), 0, (60 + 6) * 4);
  expect_cost(workload("copy", {{"elements", number(10)}}), 0, 80);
  expect_cost(workload("triad", {{"elements", number(10)}}), 20, 120);
  expect_cost(workload("triad", {{"elements", number(10)}}, 1, "bf16"), 20, 60);
  expect_cost(workload("host_to_device", {{"elements", number(10)}}), 0, 40);
}

// VGG-16 has 138,357,544 weights; a sample is 3 x 224 x 224 numbers in and 1,000 out. Training reads and writes weights
// and momentum, and gives no output.
TEST(StepCost, OfANetworkReadsItsWeightsOnce) {
  auto vgg = workload("vgg16", {}, 2);
  vgg.graph = graph_hash(build("vgg16"));
  const double image = 3 * 224 * 224;
  expect_cost(vgg, 2 * cost_of(build("vgg16")).total.flops, 4 * (138'357'544 + 2 * (image + 1000)));
  vgg.mode = Mode::train;
  expect_cost(vgg, 6 * cost_of(build("vgg16")).total.flops, 4 * (4 * 138'357'544.0 + 2 * image));
}

// BERT: of 30,522 words 128 are looked up, of two types 2, of 512 positions 128 (a table that is no lookup counts
// whole).
TEST(StepCost, OfATableCountsTheRowsThatAreLookedUp) {
  auto bert = workload("bert_base");
  bert.graph = graph_hash(build("bert_base"));
  const double features = 768;
  const double weights = 109'482'240 - (30522 - 128) * features;
  EXPECT_DOUBLE_EQ(*step_cost(bert)->least_bytes, 4 * (weights + 2 * 128 + features));
}

TEST(StepCost, IsUnknownWhereNothingTells) {
  EXPECT_FALSE(step_cost(workload("all_reduce")));
  EXPECT_FALSE(step_cost(workload("toy")));
  EXPECT_FALSE(step_cost(workload("gemm", {{"size", number(4)}})));  // a gemm of a worker's own
  EXPECT_FALSE(step_cost(workload("gemm", {}, 1, "fp9")));
  auto command = workload("gemm");
  command.command = {"true"};
  EXPECT_FALSE(step_cost(command));
}

// Each of 10 tokens of llama_9m, in each of 9 layers: 2 (2 x 256 x 256 + 2 x 256 x 128 + 3 x 256 x 704) = 1,474,560,
// and 4 x 10 x 256 = 10,240 of attention; then once the output, 2 x 256 x 4096 = 2,097,152. Of two sequences twice
// that.
TEST(StepCost, OfReadingPrompts) {
  auto asked = workload("llama_9m");
  EXPECT_FALSE(prefill_flops(asked));
  asked.generate = Generation{.prompt_tokens = 10, .sequences = 2, .cache_precision = {}};
  EXPECT_DOUBLE_EQ(prefill_flops(asked).value(), 2 * (10 * 9 * (1'474'560.0 + 10'240) + 2'097'152));
  // TinyLlama: 22 x 2 (2 x 2048 x 2048 + 2 x 2048 x 256 + 3 x 2048 x 5632), 22 x 4 x 2048, 2 x 2048 x 32000.
  asked.network = "tinyllama_1b";
  asked.generate = Generation{.prompt_tokens = 1, .cache_precision = {}};
  EXPECT_DOUBLE_EQ(prefill_flops(asked).value(), 22 * (2.0 * 44'040'192 + 8'192) + 131'072'000);
  asked.network = "mine.gguf";
  EXPECT_FALSE(prefill_flops(asked));
}

}  // namespace
}  // namespace assay::network
