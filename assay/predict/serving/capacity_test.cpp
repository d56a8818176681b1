#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/predict/models/catalogue.hpp"
#include "assay/predict/serving/capacity_search.hpp"
#include "assay/predict/serving/stacks/known_stacks.hpp"

namespace assay::predict {
namespace {

using testing::HasSubstr;

CapacityQuestion question(double rate, double ttft_seconds) {
  CapacityQuestion asked;
  asked.model.shape = model_named("llama3-8b");
  asked.stack = known_stack("vllm", ProductType::bf16).fitted;
  asked.load.prompt_tokens = 1024;
  asked.load.output_tokens = 128;
  asked.load.rate = rate;
  asked.limits = {{ServedTime::ttft, 0.99, ttft_seconds}};
  return asked;
}

TEST(Capacity, TheFewestServersKeepTheLimitAndOneLessDoesNot) {
  const KernelTimes times(find_device("h100"));
  const auto asked = question(60, 0.5);
  const auto found = find_capacity(asked, times, 1);
  ASSERT_GT(found.replicas, 1);
  EXPECT_LE(found.first_token_seconds.p99, 0.5 * 1.3);  // seen with other requests than those of the search
  // One server holds at least the share that it has, and less than the share with one server less: 2 % is the step of
  // the search, and several servers that share a queue hold a little more than as many alone.
  const double share = 60.0 / static_cast<double>(found.replicas);
  EXPECT_GT(*found.rate_per_server, 0.8 * share);
  EXPECT_LT(*found.rate_per_server, 60.0 / static_cast<double>(found.replicas - 1) * 1.05);
  EXPECT_LE(*found.replicas_low, found.replicas);
  EXPECT_GE(*found.replicas_high, found.replicas);
  // Tokens of answers: 60 x 128 a second, by devices x 3600 s.
  EXPECT_NEAR(found.device_hours_per_million_tokens, static_cast<double>(found.devices) * 1e6 / (60 * 128) / 3600,
              1e-9);
  EXPECT_NEAR(found.kwh_per_million_tokens, found.device_hours_per_million_tokens * 0.7, 1e-9);  // 700 W
}

TEST(Capacity, TwiceTheLoadTakesAboutTwiceTheServersAndTheSameSeedGivesTheSame) {
  const KernelTimes times(find_device("h100"));
  const auto one = find_capacity(question(100, 0.5), times, 1);
  const auto two = find_capacity(question(200, 0.5), times, 1);
  EXPECT_NEAR(static_cast<double>(two.replicas) / static_cast<double>(one.replicas), 2, 0.5);
  EXPECT_EQ(to_json(find_capacity(question(100, 0.5), times, 1)), to_json(one));
}

TEST(Capacity, WhatDoesNotFitAndLimitsThatCannotBeKeptAreRefusedWithTheReason) {
  const KernelTimes times(find_device("h100"));
  auto large = question(1, 1);
  large.model.shape = model_named("llama3-70b");  // 141 GB of weights
  EXPECT_THAT(find_capacity(large, times, 1).refused, HasSubstr("do not fit into 1 x 80 GB"));
  // A prompt of 1,024 tokens takes at least 2 x 8e9 x 1024 / 989e12 = 17 ms.
  auto fast = question(1, 0.01);
  fast.most_replicas = 64;
  EXPECT_THAT(find_capacity(fast, times, 1).refused, HasSubstr("64 replicas do not keep ttft p99 < 0.01 s"));
}

TEST(Capacity, AClosedLoopAndPromptsOfTheirOwnAreServed) {
  const KernelTimes times(find_device("h100"));
  auto closed = question(0, 60);
  closed.load.concurrency = 16;
  const auto seen = find_capacity(closed, times, 1);
  EXPECT_EQ(seen.replicas, 1);
  EXPECT_FALSE(seen.rate_per_server);
  EXPECT_GT(seen.tokens_per_second, 16 / seen.latency_seconds.p99 * 128 * 0.9);  // Little's law, of the slowest
  auto apart = question(60, 0.5);
  apart.disaggregated = true;
  const auto found = find_capacity(apart, times, 1);
  EXPECT_GE(found.prefill_replicas, 1);
  EXPECT_EQ(found.devices, found.replicas + found.prefill_replicas);
}

TEST(Capacity, LengthsThatDifferHoldLessAndSmallStepsReadTheWeightsMoreOften) {
  const KernelTimes times(find_device("h100"));
  const auto alike = question(60, 0.5);
  auto spread = alike;
  spread.load.lengths = {LengthKind::lognormal, 1, {}};
  // Waits grow with the square of the lengths, whose mean is the same.
  EXPECT_LT(*find_capacity(spread, times, 1).rate_per_server, *find_capacity(alike, times, 1).rate_per_server);
  // A prompt of 8192 tokens is 32 steps of 256, each of which reads 16.06 GB of weights at 3.35 TB/s at most.
  auto small = question(0, 60);
  small.load.prompt_tokens = 8192;
  const auto large = find_capacity(small, times, 1);
  small.step_tokens = 256;
  EXPECT_GT(find_capacity(small, times, 1).first_token_seconds.p50,
            std::max(large.first_token_seconds.p50, 32 * 16.06e9 / 3.35e12));
}

TEST(CapacitySearch, TheCheapestIsFirstAndEverySplitHasAnAnswerOrAReason) {
  ServiceQuestion asked;
  asked.asked = question(40, 0.5);
  asked.devices = {find_device("h100"), find_device("h200")};
  asked.splits = {1, 2, 3};
  asked.prices = {{"h100", 2}, {"h200", 3}};
  const auto answer = search_capacity(asked);
  ASSERT_EQ(answer.options.size(), 6u);
  EXPECT_THAT(answer.options.back().refused, HasSubstr("the 32 heads of"));
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_GE(*answer.options[i].price_per_million_tokens, *answer.options[i - 1].price_per_million_tokens);
  }
  EXPECT_FALSE(answer.advice.empty());
}

TEST(KnownStacks, AnUnknownServerIsRefusedWithThoseThereAre) {
  try {
    known_stack("abacus", ProductType::bf16);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("sglang, trtllm, vllm"));
  }
}

}  // namespace
}  // namespace assay::predict
