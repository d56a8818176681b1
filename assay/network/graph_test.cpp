#include "assay/network/graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/network/builder.hpp"

namespace assay::network {
namespace {

using testing::HasSubstr;

Shape pooled(std::int64_t size, const Window& window, bool ceil) {
  Builder b("pool");
  return b.finish(b.max_pool("pool", b.image(1, size), window, ceil)).nodes[0].shape;
}

// Windows by hand: 7 values, windows of 3 every 2: at 0, 2, 4 (full). 8 values: at 0, 2, 4, and with ceil a part at 6.
TEST(Graph, PoolsRoundDownOrUp) {
  EXPECT_EQ(pooled(7, square(3, 2), false), (Shape{1, 3, 3}));
  EXPECT_EQ(pooled(7, square(3, 2), true), (Shape{1, 3, 3}));
  EXPECT_EQ(pooled(8, square(3, 2), false), (Shape{1, 3, 3}));
  EXPECT_EQ(pooled(8, square(3, 2), true), (Shape{1, 4, 4}));
  // 4 values with one zero before: windows of 2 every 3 begin at -1, 2 and 5. The third has nothing of the input.
  EXPECT_EQ(pooled(4, square(2, 3, 1), true), (Shape{1, 2, 2}));
}

TEST(Graph, DerivesShapesAndParameters) {
  Builder b("small");
  auto x = b.convolution("conv", b.image(4, 9), 6, {{3, 1}, {2, 1}, {1, 0}}, 2, true);
  x = b.batch_norm("bn", x, 1e-5);
  x = b.plain(Op::flatten, "flat", {x});
  const auto graph = b.finish(b.linear("fc", x, 5));
  EXPECT_EQ(graph.nodes[0].shape, (Shape{6, 5, 9}));
  ASSERT_EQ(graph.nodes[0].parameters.size(), 2u);
  EXPECT_EQ(graph.nodes[0].parameters[0].shape, (Shape{6, 2, 3, 1}));
  EXPECT_EQ(graph.nodes[3].shape, (Shape{5}));
  EXPECT_EQ(graph.parameters, 6 * 2 * 3 + 6 + 2 * 6 + 5 * 270 + 5);
}

TEST(Graph, SharedWeightsCountOnce) {
  Builder b("tied");
  const auto words = b.embedding("words", b.tokens("tokens", 3, 11), 11, 4);
  const auto graph = b.finish(b.linear_with_weight_of("head", words, "words", 11));
  EXPECT_EQ(graph.parameters, 44);
  EXPECT_EQ(graph.nodes[1].shape, (Shape{3, 11}));
}

// A window of 3 with neighbours 2 apart reaches over 5: of 9 values 5 fit, with padding 2 on either side all 9.
TEST(Graph, ADilatedWindowReachesFarther) {
  Builder b("dilated");
  const auto graph = b.finish(b.dilated_convolution("conv", b.image(4, 9), 6, 3, 2));
  EXPECT_EQ(graph.nodes[0].shape, (Shape{6, 9, 9}));
  EXPECT_EQ(graph.nodes[0].parameters[0].shape, (Shape{6, 4, 3, 3}));
  auto wire = to_wire(graph);
  wire["nodes"][0]["attributes"]["padding"] = {0, 0};
  EXPECT_EQ(read_graph(wire).nodes[0].shape, (Shape{6, 5, 5}));
}

TEST(Graph, ResizingOnlyEnlarges) {
  Builder b("larger");
  const auto graph = b.finish(b.resize("larger", b.image(4, 5), 8));
  EXPECT_EQ(graph.nodes[0].shape, (Shape{4, 8, 8}));
  auto wire = to_wire(graph);
  wire["nodes"][0]["attributes"]["sizes"] = {8, 4};
  EXPECT_THROW(read_graph(wire), Error);
}

// Windows of 3 that lie 2 apart: the fifth begins at 8 and ends at 11.
TEST(Graph, ATransposedWindowSpreadsItsInput) {
  Builder b("spread");
  const auto graph = b.finish(b.transposed_convolution("up", b.image(4, 5), 6, 3, 2));
  EXPECT_EQ(graph.nodes[0].shape, (Shape{6, 11, 11}));
  EXPECT_EQ(graph.nodes[0].parameters[0].shape, (Shape{4, 6, 3, 3}));
  auto wire = to_wire(graph);
  wire["nodes"][0]["attributes"]["stride"] = {4, 4};
  EXPECT_THROW(read_graph(wire), Error);
}

// An LSTM has four gates and one bias for each, a GRU three with two biases.
TEST(Graph, RecurrentLayersHaveTheirGates) {
  Builder b("recurrent");
  auto x = b.embedding("words", b.tokens("tokens", 3, 11), 11, 4);
  x = b.recurrent(Op::lstm, "lstm", x, 5);
  const auto graph = b.finish(b.recurrent(Op::gru, "gru", x, 7));
  EXPECT_EQ(graph.nodes.back().shape, (Shape{3, 7}));
  EXPECT_EQ(graph.parameters, 11 * 4 + 4 * 5 * (4 + 5 + 1) + 3 * 7 * (5 + 7 + 2));
}

TEST(Graph, EachTwoVectorsHaveADotProduct) {
  Builder b("dots");
  const auto rows = b.embedding("words", b.tokens("tokens", 3, 11), 11, 4);
  std::vector<std::string> vectors;
  for (const std::int64_t i : {0, 1, 2}) vectors.push_back(b.select(fmt::format("v{}", i), rows, i));
  auto wire = to_wire(b.finish(b.plain(Op::pairwise_dots, "dots", vectors)));
  EXPECT_EQ(read_graph(wire).nodes.back().shape, Shape{3});
  wire["nodes"].back()["inputs"] = {"v0"};
  EXPECT_THROW(read_graph(wire), Error);
}

TEST(Graph, RotatingNeedsTwoHalvesOfEachHead) {
  Builder b("rotary");
  auto wire = to_wire(b.finish(b.rotary("turned", b.embedding("words", b.tokens("tokens", 3, 11), 11, 12), 3, 1e4)));
  EXPECT_EQ(read_graph(wire).nodes.back().shape, (Shape{3, 12}));
  wire["nodes"].back()["attributes"]["heads"] = 4;
  EXPECT_THROW(read_graph(wire), Error);
}

TEST(Graph, AttentionMayCrossOverToFewerHeadsOfAnotherLength) {
  const auto shape = [](std::int64_t length, std::int64_t features, std::int64_t key_heads, bool causal) -> Shape {
    Builder b("cross");
    const auto queries = b.embedding("queries", b.tokens("targets", 3, 11), 11, 12);
    const auto keys = b.embedding("keys", b.tokens("sources", length, 11), 11, features);
    try {
      return b.finish(b.cross_attention("mix", {queries, keys, keys}, 6, key_heads, causal, 0)).nodes.back().shape;
    } catch (const Error&) {
      return {};
    }
  };
  EXPECT_EQ(shape(5, 12, 6, false), (Shape{3, 12}));
  EXPECT_EQ(shape(5, 4, 2, false), (Shape{3, 12}));  // heads of two features all
  EXPECT_EQ(shape(3, 4, 2, true), (Shape{3, 12}));
  EXPECT_EQ(shape(5, 4, 2, true), Shape{});
  EXPECT_EQ(shape(5, 6, 2, false), Shape{});
  EXPECT_EQ(shape(5, 8, 4, false), Shape{});
}

// A window of 2 needs one zero behind and none in front.
TEST(Graph, AVolumeKeepsItsSizeUntilItIsPooled) {
  Builder b("volume");
  const auto x = b.convolution3d("conv", b.volume(4, 7), 6, 2);
  const auto graph = b.finish(b.max_pool3d("pool", x, 2));
  EXPECT_EQ(graph.nodes[0].shape, (Shape{6, 7, 7, 7}));
  EXPECT_EQ(graph.nodes[0].parameters[0].shape, (Shape{6, 4, 2, 2, 2}));
  EXPECT_EQ(graph.nodes[1].shape, (Shape{6, 3, 3, 3}));
  auto wire = to_wire(graph);
  wire["nodes"][0]["attributes"]["stride"] = {1, 1};
  EXPECT_THROW(read_graph(wire), Error);
}

// Pixels become positions, row by row, and a learned token goes in front of them.
TEST(Graph, AnImageBecomesASequence) {
  Builder b("patches");
  const auto pixels = b.plain(Op::to_sequence, "pixels", {b.image(5, 4)});
  const auto token = b.learned_tokens("token", pixels, 1, 5);
  const auto graph = b.finish(b.concat("all", {token, pixels}));
  EXPECT_EQ(graph.nodes[0].shape, (Shape{16, 5}));
  EXPECT_EQ(graph.nodes[1].shape, (Shape{1, 5}));
  EXPECT_EQ(graph.nodes[2].shape, (Shape{17, 5}));
  EXPECT_EQ(graph.parameters, 5);
}

json good() {
  Builder b("good");
  const auto a = b.plain(Op::relu, "a", {b.image(2, 4)});
  return to_wire(b.finish(b.convolution("b", a, 3, square(3))));
}

std::string message_of(const json& wire) {
  try {
    read_graph(wire);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "";
}

TEST(Graph, EmbeddingsMayShareATable) {
  Builder b("tied");
  const auto words = b.embedding("words", b.tokens("tokens", 3, 11), 11, 4);
  const auto again = b.embedding_with_table_of("again", b.tokens("others", 2, 11), "words", 11, 4);
  auto wire = to_wire(b.finish(b.concat("all", {words, again})));
  EXPECT_EQ(read_graph(wire).parameters, 44);
  wire["nodes"][1]["attributes"]["features"] = 5;
  EXPECT_THAT(message_of(wire), HasSubstr("cannot share the weight of 'words'"));
}

TEST(Graph, WhatIsDerivedIsNotBelieved) {
  auto wire = good();
  wire["parameters"] = 7;
  wire["nodes"][0]["shape"] = {1, 2, 3, 4};
  EXPECT_EQ(to_wire(read_graph(wire)), good());
}

TEST(Graph, HashIsOfWhatIsComputed) {
  const auto hash = graph_hash(read_graph(good()));
  auto wire = good();
  wire["name"] = "renamed";
  EXPECT_EQ(graph_hash(read_graph(wire)), hash);
  wire["nodes"][1]["attributes"]["bias"] = true;
  EXPECT_NE(graph_hash(read_graph(wire)), hash);
  wire = good();
  wire["loss"] = "mean_square";
  EXPECT_NE(graph_hash(read_graph(wire)), hash);
}

TEST(Graph, NamesTheNodeThatMakesNoSense) {
  const auto changed = [](auto&& change) {
    auto wire = good();
    change(wire);
    return message_of(wire);
  };
  EXPECT_THAT(changed([](json& w) { w["nodes"][1]["attributes"].erase("kernel"); }),
              AllOf(HasSubstr("'b'"), HasSubstr("kernel")));
  EXPECT_THAT(changed([](json& w) { w["nodes"][1]["attributes"]["kernel"] = {5, 5}; }), HasSubstr("does not fit"));
  EXPECT_THAT(changed([](json& w) { w["nodes"][1]["attributes"]["groups"] = 2; }), HasSubstr("groups"));
  EXPECT_THAT(changed([](json& w) { w["nodes"][1]["inputs"] = {"c"}; }), HasSubstr("'c'"));
  EXPECT_THAT(changed([](json& w) { w["nodes"][1]["inputs"] = {"b"}; }), HasSubstr("does not come before it"));
  EXPECT_THAT(changed([](json& w) { w["nodes"][1]["name"] = "a"; }), HasSubstr("called 'a'"));
  EXPECT_THAT(changed([](json& w) { w["nodes"][1]["name"] = "loss"; }), HasSubstr("loss"));
  EXPECT_THAT(changed([](json& w) { w["nodes"][1]["op"] = "convolve"; }), HasSubstr("convolve"));
  EXPECT_THAT(changed([](json& w) { w["output"] = "image"; }), HasSubstr("output"));
  EXPECT_THAT(changed([](json& w) { w["version"] = 2; }), HasSubstr("version 2"));
  EXPECT_THAT(changed([](json& w) { w["nodes"] = json::array(); }), HasSubstr("nodes"));
  EXPECT_THAT(changed([](json& w) { w["inputs"][0]["shape"] = {2, 1 << 30, 1 << 30}; }), HasSubstr("out of range"));
}

TEST(Graph, AddTakesWhatCanBeSpread) {
  const auto fits = [](std::int64_t rows, std::int64_t features) {
    Builder b("sum");
    const auto words = b.embedding("words", b.tokens("tokens", 4, 9), 9, 6);
    const auto other = b.position_embedding("positions", b.tokens("others", rows, 9), 16, features);
    try {
      return b.finish(b.plain(Op::add, "sum", {words, other})).nodes.back().shape == Shape{4, 6};
    } catch (const Error&) {
      return false;
    }
  };
  EXPECT_TRUE(fits(4, 6));
  EXPECT_TRUE(fits(1, 6));
  EXPECT_FALSE(fits(3, 6));
  EXPECT_FALSE(fits(4, 5));
}

}  // namespace
}  // namespace assay::network
