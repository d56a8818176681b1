#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/predict/models/catalogue.hpp"
#include "assay/predict/serving/stacks/stack_fit.hpp"

namespace assay::predict {
namespace {

using testing::HasSubstr;

ServedModel llama_8b(std::int64_t tensor = 1) {
  return {model_named("llama3-8b"), ProductType::bf16, 2, tensor};
}

TEST(ServedModel, TheCacheOfATokenIsWhatTheConfigurationSays) {
  // 32 layers x 2 x 8 heads x 128 x 2 bytes = 131,072 bytes a token.
  EXPECT_DOUBLE_EQ(cache_token_bytes(llama_8b()), 131072);
  // Deepseek-V3: 61 layers x (512 + 64) x 2 bytes.
  ServedModel latent{model_named("deepseek-v3"), ProductType::fp8, 2, 8};
  EXPECT_DOUBLE_EQ(cache_token_bytes(latent), 61 * 576 * 2);
}

TEST(ServedModel, WeightsAndRoomAddUpToTheMemory) {
  // 8,030,261,248 parameters of 2 bytes.
  const auto model = llama_8b();
  EXPECT_DOUBLE_EQ(served_weight_bytes(model), 2.0 * 8'030'261'248);
  // An H100: .9 x 80 GB - 2 GB - 16.06 GB = 53.94 GB, over 2000 tokens of 131,072 bytes: 205.8 sequences.
  const double fits = sequences_that_fit(model, device_sheet("h100"), 2000, 0.9);
  EXPECT_NEAR(fits, (0.9 * 80e9 - 2e9 - 2.0 * 8'030'261'248) / (131072.0 * 2000), 1e-9);
  // 70 billion parameters do not fit into one.
  ServedModel large{model_named("llama3-70b"), ProductType::bf16, 2, 1};
  EXPECT_LT(sequences_that_fit(large, device_sheet("h100"), 2000, 0.9), 0);
}

TEST(ServedModel, AStepIsNeverFasterThanItsRooflineAndASplitIsFaster) {
  const KernelTimes times(find_device("h100"));
  for (const double batch : {1.0, 16.0, 256.0}) {
    const StepLoad load{batch, 2048, 0, 0, 0};
    const double one = step_parts(llama_8b(), times, load).total();
    EXPECT_GT(one, step_roofline(llama_8b(), times.sheet(), load));
    EXPECT_LT(step_parts(llama_8b(4), times, load).total(), one);
  }
}

TEST(ServedModel, WhatCannotBeServedIsRefused) {
  const auto refusal = [](const ServedModel& model) -> std::string {
    try {
      check(model);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal(llama_8b(3)), HasSubstr("the 32 heads of"));
  EXPECT_THAT(refusal({model_named("bert-base"), ProductType::bf16, 2, 1}), HasSubstr("not a decoder"));
  EXPECT_EQ(refusal(llama_8b(8)), "");
}

TEST(Stack, AClosedLoopOfOneClientIsItsPromptAndItsSteps) {
  const KernelTimes times(find_device("h100"));
  ServingPoint point{llama_8b(), ServingMode::closed_loop, 1024, 129, 1, false};
  StackConstants constants;
  constants.first = 1;
  constants.wait = 0;
  const auto said = serving_times(point, parts_of(point, times, 1), constants);
  EXPECT_NEAR(said.first_token_seconds, said.prefill_seconds, 1e-12);
  EXPECT_NEAR(said.token_seconds, said.decode_step_seconds, 1e-12);
  EXPECT_NEAR(said.tokens_per_second, 129 / (said.prefill_seconds + 128 * said.decode_step_seconds), 1e-6);
}

/// Rows that a stack of these constants would give.
std::vector<ServingRow> made_rows(const StackConstants& constants, const KernelTimes& times, const char* version) {
  std::vector<ServingRow> rows;
  for (const double prompt : {512.0, 2048.0, 8192.0}) {
    for (const double output : {128.0, 1024.0}) {
      for (const double clients : {1.0, 4.0, 16.0, 64.0}) {
        ServingRow row;
        row.stack = {"made", version, ProductType::bf16};
        row.device = "h100";
        row.point = {llama_8b(), ServingMode::closed_loop, prompt, output, clients, false};
        const auto said = serving_times(row.point, parts_of(row.point, times, 1), constants);
        row.first_token_seconds = said.first_token_seconds;
        row.token_seconds = said.token_seconds;
        rows.push_back(row);
      }
    }
  }
  return rows;
}

TEST(CalibratedStacks, RowsGiveBackTheTimesOfTheStackThatMadeThem) {
  DeviceTimes times;
  times.emplace("h100", KernelTimes(find_device("h100")));
  StackConstants truth;
  truth.products = 1.1;
  truth.layer_us = 12;
  truth.sequence_us = 8;
  truth.first = 1.5;
  truth.first_each = 0.2;
  const CalibratedStacks stacks(made_rows(truth, times.at("h100"), "1"), times);
  // A point between those that were measured.
  const ServingPoint asked{llama_8b(), ServingMode::closed_loop, 1024, 512, 32, false};
  const auto expected = serving_times(asked, parts_of(asked, times.at("h100"), 1), truth);
  const auto said = stacks.predict({"made", "1", ProductType::bf16}, "h100", asked);
  EXPECT_NEAR(said.token_seconds.value / expected.token_seconds, 1, 0.03);
  EXPECT_NEAR(said.first_token_seconds.value / expected.first_token_seconds, 1, 0.1);
  EXPECT_LE(said.token_seconds.low, expected.token_seconds);
  EXPECT_GE(said.token_seconds.high, expected.token_seconds);
  EXPECT_EQ(said.rests_on, "24 rows of made 1 bf16");
  // A release that was never seen rests on the group, and further splits are less certain.
  EXPECT_EQ(stacks.predict({"made", "2", ProductType::bf16}, "h100", asked).rests_on, "24 rows of made, all bf16");
  auto split = asked;
  split.model.tensor = 4;
  const auto wider = stacks.predict({"made", "1", ProductType::bf16}, "h100", split);
  EXPECT_GT(wider.token_seconds.high / wider.token_seconds.value, said.token_seconds.high / said.token_seconds.value);
}

TEST(CalibratedStacks, AServerThatWorksInTurnDoesNotWait) {
  DeviceTimes times;
  times.emplace("h100", KernelTimes(find_device("h100")));
  StackConstants truth;
  truth.first = 2;
  truth.wait = 1e-4;
  auto rows = made_rows(truth, times.at("h100"), "1");
  std::erase_if(rows, [](const ServingRow& row) { return row.point.concurrency > 1; });
  const auto constants_of = [&](const char* server) {
    for (auto& row : rows) row.stack.server = server;
    const CalibratedStacks stacks(rows, times);
    const auto known = stacks.nearest({server, "1", ProductType::bf16}, ServingMode::closed_loop);
    const auto& asked = rows.back().point;
    const auto said = stacks.predict(rows.back().stack, "h100", asked).first_token_seconds.value;
    EXPECT_NEAR(said / *rows.back().first_token_seconds, 1, 0.1) << server;
    return known.second->constants;
  };
  // One client cannot tell a wait from work: twice a prompt's time is a wait for one of them, and work for the other.
  EXPECT_GT(constants_of("made").first, 1.3);
  const auto in_turn = constants_of("llama.cpp");
  EXPECT_NEAR(in_turn.first, 1, 0.05);
  EXPECT_NEAR(in_turn.prefill, 2, 0.3);
}

TEST(ServingRows, AModelOfAStatedSizeIsGuessedAndWhatCannotBePredictedIsRefusedWithTheReason) {
  const auto table = parse_serving_rows(
      "model,gpu_system,backend,backend_version,precision,input_tokens,output_tokens,concurrency,batch_size,tp,pp,"
      "ttft_ms,tpot_ms\n"
      "meta-llama/Llama-3.1-8B-Instruct,h100_sxm,vllm,0.12,,1024,256,8,8,2,1,100,10\n"
      "acme/Zebra-30B-chat,l40s,vllm,,fp8,1024,256,,4,2,1,,10\n"
      "acme/Zebra-30B-chat,abacus,vllm,0.12,fp8,1024,256,,4,2,1,,10\n"
      "acme/Zebra,h100_sxm,vllm,0.12,fp8,1024,256,,4,2,1,,10\n"
      "Llama-3.1-8B,h100_sxm,vllm,0.12,fp8,1024,256,,4,3,1,,10\n"
      "Llama-3.1-8B,h100_sxm,vllm,0.12,fp8,,256,,4,1,1,,10\n"
      "Llama-3.1-8B,h100_sxm,vllm,0.12,fp8,1024,256,,4,1,2,,10\n"
      "Llama-3.1-8B,h100_sxm,vllm,0.12,fp7,1024,256,,4,1,1,,10\n"
      "Llama-3.1-8B,h100_sxm,vllm,0.12,fp8,1024,256,,4,1,1,,\n",
      "rows.csv");
  const auto& rows = table.rows;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].guessed, "");
  EXPECT_EQ(rows[0].point.model.shape.hidden, 4096);
  EXPECT_EQ(rows[0].point.model.tensor, 2);
  EXPECT_DOUBLE_EQ(*rows[0].token_seconds, 0.01);
  EXPECT_THAT(rows[1].guessed, HasSubstr("30 billion"));
  EXPECT_FALSE(rows[1].first_token_seconds);
  EXPECT_DOUBLE_EQ(rows[1].point.concurrency, 4);
  EXPECT_EQ(rows[1].stack.text(), "vllm unversioned fp8");
  ASSERT_EQ(table.refused.size(), 7u);
  EXPECT_EQ(table.refused[0].id, "3");
  EXPECT_THAT(table.refused[0].why, HasSubstr("'abacus' is not in the catalogue"));
  EXPECT_THAT(table.refused[1].why, HasSubstr("states no size"));
  EXPECT_THAT(table.refused[2].why, HasSubstr("the 32 heads of"));
  EXPECT_THAT(table.refused[3].why, HasSubstr("input_tokens is ''"));
  EXPECT_THAT(table.refused[4].why, HasSubstr("pp is 2"));
  EXPECT_THAT(table.refused[5].why, HasSubstr("precision 'fp7'"));
  EXPECT_THAT(table.refused[6].why, HasSubstr("neither time was measured"));
}

}  // namespace
}  // namespace assay::predict
