#include "assay/predict/layer_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

json op(const std::string& name, double begin_us, double us, json args, int thread = 1) {
  return {{"ph", "X"},     {"cat", "cpu_op"}, {"name", name}, {"pid", 1},
          {"tid", thread}, {"ts", begin_us},  {"dur", us},    {"args", std::move(args)}};
}

json accumulate(double begin_us, json shape) {
  return op("torch::autograd::AccumulateGrad", begin_us, 1,
            {{"Input Dims", {std::move(shape)}}, {"Input type", {"float"}}}, 2);
}

json evaluate(const std::string& node, double begin_us, double us, std::int64_t sequence) {
  return op("autograd::engine::evaluate_function: " + node, begin_us, us, {{"Sequence number", sequence}}, 2);
}

/// A step of 100 us: a convolution (10 us, sequence 5), a relu (4 us, 6), a linear layer (20 us) whose transpose and
/// product have 7 and 8; then the backward nodes, each followed by its gradients; a loader and an optimizer.
json events_of_a_step() {
  return json::array({
      {{"ph", "X"}, {"cat", "user_annotation"}, {"name", "ProfilerStep#3"}, {"tid", 1}, {"ts", 0}, {"dur", 100}},
      {{"ph", "X"},
       {"cat", "user_annotation"},
       {"name", "enumerate(DataLoader)#Iter.__next__"},
       {"tid", 1},
       {"ts", 0},
       {"dur", 3}},
      op("aten::conv2d", 5, 10, {{"Sequence number", 5}}),
      op("aten::convolution", 6, 8, {{"Sequence number", 5}}),
      op("aten::relu", 16, 4, {{"Sequence number", 6}}),
      op("aten::linear", 21, 20, {{"Sequence number", 7}}),
      op("aten::t", 22, 2, {{"Sequence number", 7}}),
      op("aten::addmm", 25, 15, {{"Sequence number", 8}}),
      evaluate("AddmmBackward0", 50, 12, 8),
      evaluate("torch::autograd::AccumulateGrad", 63, 2, -1),
      accumulate(63.5, {10}),
      evaluate("TBackward0", 66, 1, 7),
      evaluate("torch::autograd::AccumulateGrad", 67, 2, -1),
      accumulate(67.5, {10, 4}),
      evaluate("ReluBackward0", 70, 3, 6),
      evaluate("ConvolutionBackward0", 73, 9, 5),
      evaluate("torch::autograd::AccumulateGrad", 83, 2, -1),
      accumulate(83.5, {8, 3, 3, 3}),
      {{"ph", "X"},
       {"cat", "user_annotation"},
       {"name", "Optimizer.step#SGD.step"},
       {"tid", 1},
       {"ts", 90},
       {"dur", 6}},
  });
}

std::string trace_of(json events) {
  return json{{"schemaVersion", 1}, {"traceEvents", std::move(events)}}.dump();
}

TEST(ImportKineto, JoinsForwardAndBackwardBySequenceNumber) {
  const auto table = layer_sources::kineto.read(trace_of(events_of_a_step()), "t.json", 4);
  ASSERT_EQ(table.layers.size(), 3u);
  EXPECT_THAT(table.layers[0].name, HasSubstr("aten::conv2d"));
  EXPECT_NEAR(table.layers[0].forward_seconds, 10e-6, 1e-12);
  EXPECT_NEAR(table.layers[0].backward_seconds, 9e-6 + 2e-6, 1e-12);  // with what accumulates its gradient
  EXPECT_THAT(table.layers[0].gradient_bytes, ElementsAre(4 * 216));
  EXPECT_TRUE(table.layers[1].gradient_bytes.empty());
  EXPECT_NEAR(table.layers[2].forward_seconds, 20e-6, 1e-12);
  EXPECT_NEAR(table.layers[2].backward_seconds, (12 + 2 + 1 + 2) * 1e-6, 1e-12);
  EXPECT_THAT(table.layers[2].gradient_bytes, ElementsAre(40, 160));
  EXPECT_NEAR(table.load_seconds, 3e-6, 1e-12);
  EXPECT_NEAR(table.update_seconds, 6e-6, 1e-12);
  EXPECT_EQ(table.origin, Origin::imported);
}

TEST(ImportKineto, CountsKernelsInPlaceOfOperatorsWhereThereAreSome) {
  auto events = events_of_a_step();
  events[3]["args"]["External id"] = 77;  // aten::convolution, inside of aten::conv2d
  events.push_back({{"ph", "X"},
                    {"cat", "kernel"},
                    {"name", "k"},
                    {"tid", 7},
                    {"ts", 200},
                    {"dur", 31},
                    {"args", {{"External id", 77}}}});
  events[16 - 1 + 0]["args"]["External id"] = 78;  // ConvolutionBackward0
  events.push_back({{"ph", "X"},
                    {"cat", "kernel"},
                    {"name", "k"},
                    {"tid", 7},
                    {"ts", 240},
                    {"dur", 60},
                    {"args", {{"External id", 78}}}});
  const auto table = layer_sources::kineto.read(trace_of(events), "t.json", 4);
  EXPECT_NEAR(table.layers[0].forward_seconds, 31e-6, 1e-12);
  EXPECT_NEAR(table.layers[0].backward_seconds, 60e-6, 1e-12);
  EXPECT_EQ(table.layers[1].forward_seconds, 0);
}

TEST(ImportKineto, TakesTheStepOfMedianLength) {
  auto events = events_of_a_step();
  for (const double length : {20.0, 500.0}) {  // without anything in them
    events.push_back({{"ph", "X"},
                      {"cat", "user_annotation"},
                      {"name", "ProfilerStep#9"},
                      {"tid", 1},
                      {"ts", 1000 * length},
                      {"dur", length}});
  }
  EXPECT_EQ(layer_sources::kineto.read(trace_of(events), "t.json", 4).layers.size(), 3u);
}

TEST(ImportKineto, SaysWhatIsMissing) {
  const auto refusal = [](const std::string& text) {
    try {
      static_cast<void>(layer_sources::kineto.read(text, "t.json", 1));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal("{}"), HasSubstr("export_chrome_trace"));
  EXPECT_THAT(refusal(trace_of(json::array())), HasSubstr("no backward pass"));
  auto events = events_of_a_step();
  for (auto& event : events) {
    if (event.contains("args")) event["args"].erase("Input Dims");
  }
  EXPECT_THAT(refusal(trace_of(events)), HasSubstr("record_shapes=True"));
}

}  // namespace
}  // namespace assay::predict
