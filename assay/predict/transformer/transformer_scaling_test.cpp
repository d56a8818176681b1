#include "assay/predict/transformer/transformer_scaling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/network/network.hpp"

namespace assay::predict {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;

constexpr double kFree = 1e300;  // a rate at which a thing costs nothing

/// Two nodes of four devices. One FLOP a second; all else costs nothing unless a test says so.
Cluster slow_devices() {
  Cluster cluster;
  cluster.nodes = 2;
  cluster.devices_per_node = 4;
  cluster.device.flops_per_second = 1;
  cluster.device.memory_bytes_per_second = kFree;
  cluster.device.memory_bytes = 80e9;
  cluster.device.efficiency = {1, 1};
  cluster.inside = Wire{0, kFree};
  cluster.across = Wire{0, kFree};
  return cluster;
}

TEST(TransformerShape, IsThatOfOurNetworks) {
  const auto bert = transformer_shape(network::build("bert_base", {{"sequence", Scalar(std::int64_t{64})}}));
  ASSERT_TRUE(bert);
  EXPECT_EQ(to_json(*bert), json({{"hidden", 768},
                                  {"feedforward", 3072},
                                  {"sequence", 64},
                                  {"heads", 12},
                                  {"blocks", 12},
                                  {"vocabulary", 30522}}));
  const auto gpt2 = transformer_shape(network::build("gpt2"));
  ASSERT_TRUE(gpt2);
  EXPECT_EQ(gpt2->vocabulary, 50257);
  EXPECT_EQ(gpt2->feedforward, 3072);
  EXPECT_EQ(gpt2->blocks, 12);
  EXPECT_FALSE(transformer_shape(network::build("resnet50")));
}

TEST(TransformerDevice, UsesTheLinksThatItsGroupCrosses) {
  auto cluster = slow_devices();
  cluster.inside->bytes_per_second = 100;
  cluster.across->bytes_per_second = 8;  // of a node: 2 for each of its devices
  TransformerPlan plan;
  plan.tensor = 4;
  EXPECT_DOUBLE_EQ(transformer_device(cluster, plan, 1).tensor_bytes_per_second, 100);
  EXPECT_DOUBLE_EQ(transformer_device(cluster, plan, 1).across_bytes_per_second, 2);
  plan.tensor = 8;
  EXPECT_DOUBLE_EQ(transformer_device(cluster, plan, 1).tensor_bytes_per_second, 2);
  cluster.across_per = Sharing::device;
  EXPECT_DOUBLE_EQ(transformer_device(cluster, plan, 1).tensor_bytes_per_second, 8);
  // On one node, stages and replicas are neighbours.
  EXPECT_DOUBLE_EQ(transformer_device(part_of(cluster, 4), plan, 1).across_bytes_per_second, 100);
}

/// Two stages of two blocks, two microbatches. A block of this shape has 10,240 FLOPs forward (transformer_test.cpp): a
/// stage computes 2 x 2 x 3 x 10,240 = 122,880, its bubble is half of that, and outputs are 2 x 24,000.
TransformerQuestion two_stages() {
  TransformerQuestion question;
  question.name = "small";
  question.shape = {10, 40, 4, 2, 4, 100};
  question.plan.pipeline = 2;
  question.plan.batch = 2;
  question.cluster = slow_devices();
  return question;
}

TEST(TransformerPoint, HasDataFromTheDevicesThatAreLeft) {
  auto question = two_stages();
  question.job_samples = 7200.0 * 2 / 232320;  // 2 sequences in 232,320 s: this many in two hours
  question.cluster.price_per_hour = 5;
  auto point = transformer_point(question, 2);
  EXPECT_EQ(point.plan.data, 1);
  EXPECT_DOUBLE_EQ(point.step.seconds, 122880 + 61440 + 48000);
  EXPECT_EQ(point.limit, TransformerLimit::compute);
  EXPECT_NEAR(point.job_hours.value_or(0), 2, 1e-9);
  EXPECT_NEAR(point.job_price.value_or(0), 10, 1e-9);
  question.plan.batch = 8;
  point = transformer_point(question, 8);
  EXPECT_EQ(point.plan.data, 4);
  EXPECT_DOUBLE_EQ(point.step.seconds, 232320);
  EXPECT_NEAR(point.job_price.value_or(0), 5, 1e-9);  // four times as fast on two nodes in place of one
}

TEST(TransformerPoint, IsSlowerAtTheLowEndOfTheEfficiency) {
  auto question = two_stages();
  question.cluster.device.efficiency = {0.5, 1};
  const auto point = transformer_point(question, 2);
  EXPECT_DOUBLE_EQ(point.low_seconds, 232320);
  EXPECT_DOUBLE_EQ(point.step.seconds, 232320 / 0.75);
  EXPECT_DOUBLE_EQ(point.high_seconds, 464640);
}

/// 0 where it is not advised.
double gain_of(const std::vector<TransformerAdvice>& advice, const std::string& change) {
  for (const auto& one : advice) {
    if (one.change == change) return one.gain;
  }
  return 0;
}

TEST(TransformerAdvice, SaysWhatAChangeGains) {
  const auto advice = advise_transformer(two_stages(), 2);
  // Two parts in each stage halve the bubble. Tensor 2 without stages halves products and output: 122,880 + 24,000.
  EXPECT_NEAR(gain_of(advice, "2 parts of the network in each stage"), 232320.0 / 201600, 1e-9);
  EXPECT_NEAR(gain_of(advice, "tensor 2 x pipeline 1 x data 1"), 232320.0 / 146880, 1e-9);
  EXPECT_NEAR(gain_of(advice, "twice as many FLOP/s"), 2, 1e-9);
  EXPECT_EQ(gain_of(advice, "twice the bandwidth between nodes"), 0);  // it gains nothing
  for (std::size_t i = 1; i < advice.size(); ++i) EXPECT_GE(advice[i - 1].gain, advice[i].gain);
}

TEST(TransformerAdvice, SaysWhatWouldFitWhereItDoesNot) {
  // Published: 175 billion parameters ran on 64 devices of 80 GB with attention computed again, not with all kept.
  TransformerQuestion question;
  question.shape = {12288, 49152, 2048, 96, 96, 51200};
  question.plan = {8, 8, 1, 3, 64, 1, Recompute::none, true, 0};
  question.cluster = slow_devices();
  question.cluster.nodes = 8;
  question.cluster.devices_per_node = 8;
  EXPECT_EQ(transformer_point(question, 64).fits, std::optional(false));
  const auto advice = advise_transformer(question, 64);
  EXPECT_THAT(advice, Contains(Field(&TransformerAdvice::change, "--recompute attention")));
  for (const auto& one : advice) EXPECT_LE(one.memory_bytes, 80e9) << one.change;
}

std::string refusal_of_point(const TransformerQuestion& question, std::int64_t devices) {
  try {
    static_cast<void>(transformer_point(question, devices));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TransformerPoint, RefusesWithNumbersThatCanBe) {
  auto question = two_stages();
  question.plan.tensor = 3;
  EXPECT_THAT(refusal_of_point(question, 8), HasSubstr("tensor x pipeline = 3 x 2. Ask for 6 or 12."));
  EXPECT_THAT(refusal_of_point(question, 4), HasSubstr("Ask for 6."));
  question.plan = {};
  question.plan.pipeline = 8;
  question.shape.blocks = 12;
  EXPECT_THAT(refusal_of_point(question, 8),
              HasSubstr("12 blocks cannot be divided by pipeline x interleaving 8; by 6 or 12"));
  question.plan = {};
  question.plan.batch = 6;
  EXPECT_THAT(refusal_of_point(question, 4),
              HasSubstr("6 sequences of the batch cannot be divided by data x microbatch 4; by 3 or 6"));
  EXPECT_THAT(refusal_of_point(question, 8), HasSubstr("data x microbatch 8; by 6 they can"));
  question.cluster.device.memory_bytes_per_second.reset();
  question.plan.batch = 8;
  EXPECT_THAT(refusal_of_point(question, 8), HasSubstr("memory_bandwidth"));
}

}  // namespace
}  // namespace assay::predict
