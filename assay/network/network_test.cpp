#include "assay/network/network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/network/cost.hpp"

namespace assay::network {
namespace {

using testing::HasSubstr;

// What keras.applications.MobileNetV2(alpha=…) counts as trainable.
TEST(Network, MobilenetCanBeNarrowerAndWider) {
  const auto at = [](std::int64_t width) {
    return build("mobilenet_v2", {{"width", width}, {"image", std::int64_t{96}}});
  };
  EXPECT_EQ(at(50).parameters, 1'968'680);
  EXPECT_EQ(at(75).parameters, 2'636'424);
  EXPECT_EQ(at(140).parameters, 6'108'776);
  EXPECT_EQ(at(200).parameters, 11'258'088);
}

// A layer of BERT has 12 d^2 + 13 d parameters at d = 768.
TEST(Network, BertCanBeShallowerAndDeeper) {
  const auto at = [](std::int64_t layers) { return build("bert_base", {{"layers", layers}}).parameters; };
  EXPECT_EQ(at(12) - at(3), 9 * (12 * 768 * 768 + 13 * 768));
  EXPECT_EQ(at(24) - at(12), 12 * (12 * 768 * 768 + 13 * 768));
}

// By hand from the layer tables of the two papers: 2 x pixels out x channels out x channels in x kernel area.
TEST(Network, FlopsOfVgg16EqualTheTable) {
  const auto layer = [](double size, double in, double out) { return 2 * size * size * out * in * 9; };
  const double convolutions = layer(224, 3, 64) + layer(224, 64, 64) + layer(112, 64, 128) + layer(112, 128, 128) +
                              layer(56, 128, 256) + 2 * layer(56, 256, 256) + layer(28, 256, 512) +
                              2 * layer(28, 512, 512) + 3 * layer(14, 512, 512);
  const double linear = 2.0 * (25088 * 4096 + 4096 * 4096 + 4096 * 1000);
  EXPECT_NEAR(cost_of(build("vgg16")).total.flops / (convolutions + linear), 1, 1e-12);
  EXPECT_NEAR(convolutions + linear, 30.94e9, 0.01e9);  // 15.47 G multiply-adds, as commonly quoted
}

TEST(Network, FlopsOfResnet50EqualTheTable) {
  // A stage of blocks with `inner` channels on `size` x `size`: its first block reads `in` channels, at twice the size
  // where the stage halves it; then the 1 x 1 convolution in front of the 3 x 3 still works on the larger image.
  const auto stage = [](double size, double in, double inner, double blocks, double before) {
    const double outer = 4 * inner;
    const double area = size * size;
    const double first = before * before * in * inner + area * (9 * inner * inner + inner * outer + in * outer);
    const double other = area * (outer * inner + 9 * inner * inner + inner * outer);
    return 2 * (first + (blocks - 1) * other);
  };
  const double flops = 2.0 * 112 * 112 * 64 * 3 * 49 + stage(56, 64, 64, 3, 56) + stage(28, 256, 128, 4, 56) +
                       stage(14, 512, 256, 6, 28) + stage(7, 1024, 512, 3, 14) + 2.0 * 2048 * 1000;
  EXPECT_NEAR(cost_of(build("resnet50")).total.flops / flops, 1, 1e-12);
  EXPECT_NEAR(flops, 8.18e9, 0.01e9);  // 4.09 G multiply-adds
}

// A layer of BERT with s tokens and h features: 4 h*h for attention's linear layers, 8 h*h for the others, 2 s*h for
// scores and values, each times s and 2.
TEST(Network, FlopsOfBertEqualTheFormula) {
  const double s = 64;
  const double h = 768;
  const double flops = 12 * 2 * s * (12 * h * h + 2 * s * h) + 2 * h * h;
  EXPECT_DOUBLE_EQ(cost_of(build("bert_base", {{"sequence", std::int64_t{64}}})).total.flops, flops);
}

// Heavy operators over the longest chain of them. An encoder layer of BERT has 6 linear nodes and 2 products; its chain
// is query, 2 products, output, 2 linear.
TEST(Network, WidthIsHeavyOverDepth) {
  const auto width = [](const char* name) { return cost_of(build(name)).width; };
  EXPECT_EQ(width("googlenet").heavy, 58);
  EXPECT_EQ(width("googlenet").depth, 22);
  EXPECT_NEAR(width("googlenet").value(), 2.636, 0.001);
  EXPECT_EQ(width("resnet50").heavy, 54);
  EXPECT_EQ(width("resnet50").depth, 50);
  EXPECT_EQ(width("vgg16").heavy, 16);
  EXPECT_EQ(width("vgg16").depth, 16);
  EXPECT_EQ(width("bert_base").heavy, 12 * 8 + 1);
  EXPECT_EQ(width("bert_base").depth, 12 * 6 + 1);
}

TEST(Network, CostsOfALayerFollowItsShapes) {
  const auto graph = build("resnet50");
  const auto cost = cost_of(graph);
  ASSERT_EQ(graph.nodes[0].name, "conv1");
  EXPECT_EQ(cost.nodes[0].activations, 64 * 112 * 112);
  EXPECT_EQ(cost.nodes[0].parameters, 64 * 3 * 7 * 7);
  EXPECT_DOUBLE_EQ(cost.nodes[0].flops, 2.0 * 64 * 112 * 112 * 3 * 7 * 7);
  EXPECT_EQ(cost.total.parameters, graph.parameters);
  EXPECT_DOUBLE_EQ(step_flops(cost, true, 4), 12 * cost.total.flops);
  EXPECT_DOUBLE_EQ(step_flops(cost, false, 4), 4 * cost.total.flops);
}

TEST(Network, OptionsChangeWhatTheySay) {
  EXPECT_EQ(build("resnet50", {{"classes", std::int64_t{10}}}).parameters, 25'557'032 - 990 * 2049);
  const auto small = build("resnet50", {{"image", std::int64_t{64}}});
  EXPECT_EQ(small.parameters, 25'557'032);
  EXPECT_EQ(small.nodes[0].shape, (Shape{64, 32, 32}));
  const auto dropouts = [](const Graph& graph) {
    return std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const Node& n) { return n.op == Op::dropout; });
  };
  EXPECT_EQ(dropouts(build("vgg16")), 2);
  EXPECT_EQ(dropouts(build("vgg16", {{"dropout", 0.0}})), 0);
}

TEST(Network, RefusesWhatItDoesNotHaveByName) {
  const auto message = [](const std::string& name, const Options& options) -> std::string {
    try {
      build(name, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("resnet51", {}), AllOf(HasSubstr("resnet51"), HasSubstr("resnet50")));
  EXPECT_THAT(message("alexnet", {{"image", std::int64_t{64}}}), AllOf(HasSubstr("image"), HasSubstr("classes")));
  EXPECT_THAT(message("vgg16", {{"image", std::int64_t{100}}}), AllOf(HasSubstr("multiple of 32"), HasSubstr("100")));
  EXPECT_THAT(message("llama", {{"key_heads", std::int64_t{5}}}), AllOf(HasSubstr("'heads'"), HasSubstr("5 does not")));
  EXPECT_THAT(message("bert_base", {{"sequence", std::int64_t{513}}}), HasSubstr("513"));
  EXPECT_THAT(message("bert_base", {{"sequence", std::string("long")}}), HasSubstr("\"long\""));
  EXPECT_THAT(message("bert_base", {{"dropout", 1.0}}), HasSubstr("1.0"));
}

TEST(Network, EveryOneIsListedAndTravels) {
  for (const auto& about : all_networks()) {
    const auto graph = build(about.name);
    EXPECT_EQ(graph.name, about.name);
    const auto again = read_graph(parse_json(to_wire(graph).dump()));
    EXPECT_EQ(to_wire(again), to_wire(graph)) << about.name;
    EXPECT_EQ(graph_hash(again), graph_hash(graph));
    EXPECT_LT(to_wire(graph).dump().size(), 200'000u);  // a line of the protocol has room for 4 MiB
  }
}

}  // namespace
}  // namespace assay::network
