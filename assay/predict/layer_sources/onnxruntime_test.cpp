#include "assay/predict/layer_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

using testing::HasSubstr;

json ort_node(const std::string& name, double begin_us, double us) {
  return {{"cat", "Node"},  {"ph", "X"}, {"name", name + "_kernel_time"},
          {"ts", begin_us}, {"dur", us}, {"args", {{"op_name", "Conv"}}}};
}

json ort_run(double begin_us, double us) {
  return {{"cat", "Session"}, {"ph", "X"}, {"name", "model_run"}, {"ts", begin_us}, {"dur", us}};
}

std::string ort_refusal(const std::string& text) {
  try {
    static_cast<void>(layer_sources::onnxruntime.read(text, "ort.json", 1));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Three runs of 100, 30 and 20 us: that of 30 us is the median, with nodes of 11 and 13 us.
TEST(ImportOnnxruntime, TheRunOfMedianLengthIsTaken) {
  const json events = json::array({ort_node("a", 0, 60), ort_node("b", 60, 30), ort_run(0, 100), ort_node("a", 201, 11),
                                   ort_node("b", 213, 13), ort_run(200, 30), ort_node("a", 301, 8),
                                   ort_node("b", 310, 9), ort_run(300, 20)});
  const auto table = layer_sources::onnxruntime.read(events.dump(), "ort.json", 4);
  ASSERT_EQ(table.layers.size(), 2u);
  EXPECT_EQ(table.layers[0].name, "a Conv");
  EXPECT_DOUBLE_EQ(table.layers[0].forward_seconds, 11e-6);
  EXPECT_DOUBLE_EQ(table.layers[1].forward_seconds, 13e-6);
  EXPECT_EQ(table.backward_seconds(), 0);
  EXPECT_EQ(table.batch, 4);
}

// Older releases have events of fences around each node.
TEST(ImportOnnxruntime, OnlyKernelsAreNodes) {
  auto fence = ort_node("a", 1, 2);
  fence["name"] = "a_fence_before";
  const json events = json::array({fence, ort_node("a", 3, 5), ort_run(0, 10)});
  EXPECT_EQ(layer_sources::onnxruntime.read(events.dump(), "ort.json", 1).layers.size(), 1u);
}

TEST(ImportOnnxruntime, WhatIsNoProfileIsRefused) {
  EXPECT_THAT(ort_refusal("{}"), HasSubstr("ort.json: this is not a profile"));
  EXPECT_THAT(ort_refusal("[]"), HasSubstr("0 runs of a model and 0 nodes"));
  EXPECT_THAT(ort_refusal("[1, {\"cat\": 3}]"), HasSubstr("0 runs"));
  EXPECT_THAT(ort_refusal("[{\"cat\""), HasSubstr("ort.json"));
  EXPECT_THAT(ort_refusal(json::array({ort_node("a", 90, 5), ort_run(0, 10)}).dump()), HasSubstr("no node is within"));
}

}  // namespace
}  // namespace assay::predict
