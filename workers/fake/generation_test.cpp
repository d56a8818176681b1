#include "workers/fake/generation.hpp"

#include <gtest/gtest.h>

namespace assay::fake {
namespace {

TEST(GenerationLaw, TokensComeWhenTheLawSaysForEverySequence) {
  const Generation asked{.prompt_tokens = 10, .output_tokens = 3, .sequences = 2, .cache_precision = {}};
  std::vector<std::int64_t> tokens(6);
  // First: 2,000,000 + 10,000 * 10 * 2 = 2,200,000. Gaps: 500,000 + 1,000 * 11, then 500,000 + 1,000 * 12.
  EXPECT_EQ(answer_times({}, asked, 0, 1, tokens), 3'223'000);
  EXPECT_EQ(tokens, (std::vector<std::int64_t>{2'200'000, 2'711'000, 3'223'000, 2'200'000, 2'711'000, 3'223'000}));
  EXPECT_DOUBLE_EQ(answer_ns({}, asked), 3'223'000);
  EXPECT_EQ(answer_times({}, asked, 0, 2, tokens), 6'446'000);
}

TEST(GenerationLaw, ThreadsOfPromptsAndOfTokensActApart) {
  Law steps;
  steps.intra_most = 8;
  steps.scale = 2;
  GenerationLaw law;
  law.token_cores = 2;
  law.stall_ns = 7;
  Settings settings;
  settings.intra_op = 4;
  settings.prefill_threads = 8;
  // Prompts with 8 threads of 8: .1 + .9 / 8 = .2125. Tokens with 4 where 2 help: .1 + .9 / 2 + .25 * 2 / 2 = .8.
  const auto out = on_threads(law, steps, settings);
  EXPECT_DOUBLE_EQ(out.first_token_ns, 2'000'000 * .2125 * 2);
  EXPECT_DOUBLE_EQ(out.prompt_token_ns, 10'000 * .2125 * 2);
  EXPECT_DOUBLE_EQ(out.token_ns, 500'000 * .8 * 2);
  EXPECT_DOUBLE_EQ(out.growth_ns, 1'000 * .8 * 2);
  EXPECT_DOUBLE_EQ(out.stall_ns, 7);
  settings.prefill_threads.reset();  // then 4 read as well: .1 + .9 / 4
  EXPECT_DOUBLE_EQ(on_threads(law, steps, settings).first_token_ns, 2'000'000 * .325 * 2);
}

TEST(GenerationLaw, OneTokenStallsInEveryFifthStepAlone) {
  GenerationLaw law;
  law.stall_token = 1;
  law.stall_ns = 7'000'000;
  const Generation asked{.prompt_tokens = 10, .output_tokens = 3, .cache_precision = {}};
  std::vector<std::int64_t> tokens(3);
  // First: 2,000,000 + 10,000 * 10 = 2,100,000; without a stall the last is there at 3,123,000.
  EXPECT_EQ(answer_times(law, asked, 3, 1, tokens), 3'123'000);
  EXPECT_EQ(answer_times(law, asked, 4, 1, tokens), 10'123'000);
  EXPECT_EQ(tokens[0], 2'100'000);
  EXPECT_EQ(tokens[1], 2'611'000 + 7'000'000);
}

}  // namespace
}  // namespace assay::fake
