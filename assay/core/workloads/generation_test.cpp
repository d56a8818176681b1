#include "assay/core/workloads/generation.hpp"

#include <gtest/gtest.h>

#include "assay/core/record.hpp"
#include "assay/core/trial.hpp"

namespace assay {
namespace {

Trial generating() {
  Trial trial;
  trial.workload.network = "llama_9m";
  trial.workload.mode = Mode::generate;
  trial.workload.generate.emplace();
  trial.worker = {"fake", "1.0.0"};
  return trial;
}

TEST(Generation, ATitleSaysWhatIsNotTheDefault) {
  auto trial = generating();
  EXPECT_EQ(title(trial.workload), "llama_9m generate 128+64");
  trial.workload.precision = "q8_0";
  trial.workload.generate = {
      .prompt_tokens = 8, .output_tokens = 2, .sequences = 4, .cache_precision = "fp16", .tokens = TokenChoice::greedy};
  EXPECT_EQ(title(trial.workload), "llama_9m generate 8+2 x4 cache=fp16 greedy q8_0");
}

TEST(Generation, IsForItsModeAlone) {
  auto trial = generating();
  EXPECT_NO_THROW(check(trial));
  trial.workload.mode = Mode::infer;
  EXPECT_THROW(check(trial), Error);
  trial.workload.mode = Mode::generate;
  trial.workload.batch = 2;
  EXPECT_THROW(check(trial), Error);
  trial.workload.batch = 1;
  trial.workload.generate.reset();
  EXPECT_THROW(check(trial), Error);
}

TEST(Generation, NumbersHaveTheirRanges) {
  for (const Generation& wrong :
       {Generation{.prompt_tokens = 0, .cache_precision = {}}, Generation{.output_tokens = 0, .cache_precision = {}},
        Generation{.sequences = 0, .cache_precision = {}},
        Generation{.output_tokens = 1001, .sequences = 100, .cache_precision = {}}}) {
    EXPECT_THROW(check(wrong), Error);
  }
  EXPECT_NO_THROW(check(Generation{.output_tokens = 1000, .sequences = 100, .cache_precision = {}}));
}

TEST(Generation, EveryNumberOfItIsPartOfTheTrial) {
  const auto id = trial_id(generating());
  auto other = generating();
  other.workload.generate->cache_precision = "fp16";
  EXPECT_NE(trial_id(other), id);
  other = generating();
  other.workload.generate->tokens = TokenChoice::greedy;
  EXPECT_NE(trial_id(other), id);
}

TEST(Record, TokensBelongToSteps) {
  RankResult rank;
  rank.samples_ns = {10, 10};
  rank.slices = {{0, 0, 20, 2, false, {}}};
  rank.tokens_ns = {1, 2, 1, 2};
  EXPECT_NO_THROW(check(rank));
  rank.tokens_ns.pop_back();
  EXPECT_THROW(check(rank), Error);
}

}  // namespace
}  // namespace assay
