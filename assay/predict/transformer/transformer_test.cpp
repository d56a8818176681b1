#include "assay/predict/transformer/transformer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

using testing::HasSubstr;

constexpr double kNever = 1e300;  // a rate at which a thing costs nothing

TransformerShape small() {
  return {10, 40, 4, 2, 2, 100};
}

TransformerShape gpt3() {
  return {12288, 49152, 2048, 96, 96, 51200};
}

/// One FLOP a second, everything else for nothing.
TransformerDevice counts_flops() {
  return {1, kNever, 80e9, kNever, kNever, 1};
}

TEST(Transformer, FlopsAreThoseOfTheUsualFormula) {
  // 72 b s h^2 l (1 + s/(6h) + V/(12 h l)) = 72 * 4 * 100 * 2 * (1 + 4/60 + 100/240) = 85,440.
  EXPECT_DOUBLE_EQ(step_flops(small(), 1), 85440);
  EXPECT_DOUBLE_EQ(step_flops(small(), 3), 3 * 85440);
}

TEST(Transformer, ParametersAreThoseOfGpt3) {
  // l (12 h^2 + 13 h) + V h + s h + 2 h: 174.6 billion, as published for this shape and vocabulary.
  EXPECT_DOUBLE_EQ(parameters_of(gpt3()), 96.0 * (12.0 * 12288 * 12288 + 13 * 12288) + (51200.0 + 2048 + 2) * 12288);
  EXPECT_NEAR(parameters_of(gpt3()), 174.6e9, 0.05e9);
}

TEST(TransformerStep, ComputesAgainWhatIsNotKept) {
  // A block forward: 24 b s h^2 + 4 b s^2 h = 9600 + 640 = 10,240. Twice three of them: 61,440. Output: 3 * 8000.
  TransformerPlan plan;
  const auto none = transformer_step(small(), plan, counts_flops());
  EXPECT_DOUBLE_EQ(none.product_seconds, 61440);
  EXPECT_DOUBLE_EQ(none.output_seconds, 24000);
  EXPECT_DOUBLE_EQ(none.seconds, 85440);
  EXPECT_DOUBLE_EQ(none.utilization, 1);
  plan.recompute = Recompute::attention;
  EXPECT_DOUBLE_EQ(transformer_step(small(), plan, counts_flops()).product_seconds, 61440 + 2 * 640);
  plan.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(transformer_step(small(), plan, counts_flops()).product_seconds, 61440 + 2 * 10240);
}

TEST(TransformerStep, HasTheBubblesOfItsSchedule) {
  // Two stages of one block, four microbatches: (m + p - 1) = 5 times 30,720, and four outputs of 24,000.
  TransformerPlan plan;
  plan.pipeline = 2;
  plan.batch = 4;
  auto step = transformer_step(small(), plan, counts_flops());
  EXPECT_DOUBLE_EQ(step.bubble_seconds, 30720);
  EXPECT_DOUBLE_EQ(step.seconds, 5 * 30720 + 4 * 24000);
  // Four blocks in two stages of two parts each: a bubble is half as long, (p - 1) / v of a stage's microbatch.
  auto shape = small();
  shape.blocks = 4;
  plan.interleaving = 2;
  step = transformer_step(shape, plan, counts_flops());
  EXPECT_DOUBLE_EQ(step.bubble_seconds, 61440.0 / 2);
}

TEST(TransformerStep, SendsFourSumsABlock) {
  // b s h = 40 values of 2 bytes; with t = 2 each sum sends 2 * 1/2 * 80 = 80 bytes; 4 a block, 6 where it is
  // computed again; 2 blocks.
  TransformerPlan plan;
  plan.tensor = 2;
  const TransformerDevice device{kNever, kNever, 80e9, 1, kNever, 1};
  EXPECT_DOUBLE_EQ(transformer_step(small(), plan, device).tensor_seconds, 640);
  plan.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(transformer_step(small(), plan, device).tensor_seconds, 960);
  // At half of each rate everything takes twice as long.
  auto slower = device;
  slower.share = 0.5;
  EXPECT_DOUBLE_EQ(transformer_step(small(), plan, slower).seconds,
                   2 * transformer_step(small(), plan, device).seconds);
}

TEST(TransformerStep, SpreadsPassesBySequenceParallelism) {
  // With t = 2, a block: (22 + 34) * 40 bytes around, (9 + 11) * 2 * 16 / 2 of scores, (4 + 6) * 160 / 2 active:
  // 2240 + 320 + 800 = 3360; sequence parallelism halves the first to 1120. Two blocks.
  TransformerPlan plan;
  plan.tensor = 2;
  const TransformerDevice device{kNever, 1, 80e9, kNever, kNever, 1};
  EXPECT_DOUBLE_EQ(transformer_step(small(), plan, device).passes_seconds, 6720);
  plan.sequence_parallel = true;
  EXPECT_DOUBLE_EQ(transformer_step(small(), plan, device).passes_seconds, 4480);
}

TEST(TransformerStep, AddsUpOverReplicasAndShardsTheUpdate) {
  // Parameters of the device: 2 (1200 + 130) + (100 + 4) * 10 = 3700. On 4 replicas 2 * 3/4 * 7400 bytes = 11,100;
  // ZeRO 3 half as much again.
  TransformerPlan plan;
  plan.data = 4;
  plan.batch = 4;
  const TransformerDevice device{kNever, 1, 80e9, kNever, 1, 1};
  auto step = transformer_step(small(), plan, device);
  EXPECT_DOUBLE_EQ(step.gradient_seconds, 11100);
  EXPECT_DOUBLE_EQ(step.update_seconds, 30 * 3700);
  plan.zero = 3;
  step = transformer_step(small(), plan, device);
  EXPECT_DOUBLE_EQ(step.gradient_seconds, 16650);
  EXPECT_DOUBLE_EQ(step.update_seconds, 30 * 3700 / 4.0);
}

TEST(MemoryUse, IsTheUsualFormula) {
  // s b h (34 + 5 a s / h) = 40 * (34 + 5 * 2 * 4 / 10) = 40 * 38 = 1520 a block, kept for two blocks.
  TransformerPlan plan;
  EXPECT_DOUBLE_EQ(transformer_memory(small(), plan).activation_bytes, 3040);
  // With t = 2: 40 * (10 + 28/2) = 960; with sequence parallelism 40 * 38/2 = 760; attention again 40 * 34/2 = 680.
  plan.tensor = 2;
  EXPECT_DOUBLE_EQ(transformer_memory(small(), plan).activation_bytes, 1920);
  plan.sequence_parallel = true;
  EXPECT_DOUBLE_EQ(transformer_memory(small(), plan).activation_bytes, 1520);
  plan.recompute = Recompute::attention;
  EXPECT_DOUBLE_EQ(transformer_memory(small(), plan).activation_bytes, 1360);
  // Full: 2 s b h a block, and one whole block while it is computed again.
  plan = {};
  plan.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(transformer_memory(small(), plan).activation_bytes, 2 * 80 + 1520);
}

TEST(MemoryUse, IsShardedByZero) {
  // 16 bytes for each of 3700 parameters; on 4 replicas ZeRO 1, 2 and 3 shard 12, 14 and 16 of them.
  TransformerPlan plan;
  plan.data = 4;
  plan.batch = 4;
  const auto state = [&](std::int64_t zero) {
    plan.zero = zero;
    const auto memory = transformer_memory(small(), plan);
    return memory.total() - memory.activation_bytes;
  };
  EXPECT_DOUBLE_EQ(state(0), 16 * 3700);
  EXPECT_DOUBLE_EQ(state(1), (4 + 12 / 4.0) * 3700);
  EXPECT_DOUBLE_EQ(state(2), (2 + 14 / 4.0) * 3700);
  EXPECT_DOUBLE_EQ(state(3), 16 / 4.0 * 3700);
}

TEST(MemoryUse, KeepsTheMicrobatchesThatAreUnderWay) {
  TransformerPlan plan;
  plan.pipeline = 2;
  plan.batch = 4;
  // The first of two stages has two microbatches under way, of one block each: as much as one device with all blocks.
  EXPECT_DOUBLE_EQ(transformer_memory(small(), plan).activation_bytes, 3040);
  plan.batch = 1;
  EXPECT_DOUBLE_EQ(transformer_memory(small(), plan).activation_bytes, 1520);
}

TEST(MemoryUse, FitsWhereItWasTrained) {
  // Published: on devices of 80 GB this ran with attention computed again and sequence parallelism. Keeping all takes
  // (114 / 34) times the activations, since 5 a s / h = 80: more than there is.
  TransformerPlan plan{8, 8, 1, 3, 64, 1, Recompute::attention, true, 0};
  EXPECT_TRUE(fits(transformer_memory(gpt3(), plan), counts_flops()));
  plan.recompute = Recompute::none;
  EXPECT_FALSE(fits(transformer_memory(gpt3(), plan), counts_flops()));
}

std::string refusal_of_plan(const TransformerPlan& plan) {
  try {
    check(gpt3(), plan);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TransformerPlan, RefusesWhatCannotBeDivided) {
  EXPECT_THAT(refusal_of_plan({7, 1, 1, 1, 1, 1}), HasSubstr("96 heads cannot be divided by tensor 7"));
  EXPECT_THAT(refusal_of_plan({1, 7, 1, 1, 1, 1}), HasSubstr("96 blocks cannot be divided"));
  EXPECT_THAT(refusal_of_plan({1, 1, 2, 1, 3, 1}), HasSubstr("3 sequences of the batch cannot be divided"));
  EXPECT_THAT(refusal_of_plan({1, 8, 1, 3, 4, 1}), HasSubstr("4 microbatches of an interleaved pipeline"));
  EXPECT_THAT(refusal_of_plan({0, 1, 1, 1, 1, 1}), HasSubstr("tensor is 0"));
  EXPECT_THAT(refusal_of_plan({1, 1, 1, 1, 1, 1, Recompute::none, false, 4}), HasSubstr("zero is 4"));
  EXPECT_EQ(refusal_of_plan({8, 8, 1, 3, 64, 1}), "");
}

}  // namespace
}  // namespace assay::predict
