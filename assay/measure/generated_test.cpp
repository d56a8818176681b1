#include "assay/measure/generated.hpp"

#include <gtest/gtest.h>

#include "assay/measure/agent/summary.hpp"

namespace assay::measure {
namespace {

/// Two sequences of three tokens. The first step is a warm-up; of the other three, one has a stall of 100.
RankResult generating_rank() {
  RankResult rank;
  rank.samples_ns = {1000, 60, 62, 160};
  rank.slices = {{0, 0, 1000, 1, true, {}}, {1, 1000, 1282, 3, false, {}}};
  rank.tokens_ns = {900, 950, 990, 900, 950, 990,  //
                    20,  30,  41,  24,  35,  47,   //
                    22,  32,  43,  26,  37,  49,   //
                    24,  34,  145, 28,  39,  151};
  rank.weights_bytes = 7;
  rank.cache_bytes = 9;
  return rank;
}

Trial generating_trial() {
  Trial trial;
  trial.workload.network = "toy";
  trial.workload.mode = Mode::generate;
  trial.workload.generate = {.prompt_tokens = 5, .output_tokens = 3, .sequences = 2, .cache_precision = {}};
  return trial;
}

TEST(Generated, FiguresAreMediansOverStepsAndSequencesAfterTheWarmUp) {
  const auto summary = summarise({generating_rank()}, generating_trial()).summary;
  ASSERT_TRUE(summary.generated);
  const auto& g = *summary.generated;
  EXPECT_EQ(g.first_token_ns, 24);  // of 20, 22, 24, 24, 26, 28
  // (last - first) / 2 of each: 10.5, 11.5, 10.5, 11.5, 60.5, 61.5; the median 11.5 is rounded up.
  EXPECT_EQ(g.token_ns, 12);
  // Second tokens: 10, 11 in every step; third: 11, 12, 11, 12, 111, 112. Neither is mixed with the other.
  EXPECT_EQ(g.curve_ns, (std::vector<std::int64_t>{11, 12}));
  EXPECT_EQ(g.longest_ns, 112);
  // 2 sequences of 5 tokens until the later first token: the median of 24, 26, 28 ns.
  EXPECT_DOUBLE_EQ(g.prompt_tokens_per_second, 10 / 26e-9);
  // 3 steps of 6 tokens in 60 + 62 + 160 ns.
  EXPECT_NEAR(g.output_tokens_per_second, 18 / 282e-9, 1);
  EXPECT_EQ(g.weights_bytes, 7);
  EXPECT_EQ(g.cache_bytes, 9);
  EXPECT_EQ(time_of(summary, TimeOf::first_token), 24);
  EXPECT_EQ(time_of(summary, TimeOf::step), 62);
}

TEST(Generated, PhasesEndWithTheLastFirstTokenAndWithTheLastToken) {
  auto rank = generating_rank();
  add_generation_phases(*generating_trial().workload.generate, rank);
  EXPECT_EQ(rank.phases_ns.at("prefill"), (std::vector<std::int64_t>{24, 26, 28}));
  EXPECT_EQ(rank.phases_ns.at("decode"), (std::vector<std::int64_t>{23, 23, 123}));
  EXPECT_EQ(rank.phase_step_ns, (std::vector<std::int64_t>{60, 62, 160}));
}

TEST(Generated, FirstTokensAreThereWhenTheLastSequenceHasOne) {
  EXPECT_EQ(steady_first_tokens({generating_rank()}, generating_trial()), (std::vector<double>{24, 26, 28}));
  auto none = generating_rank();
  none.tokens_ns.clear();
  EXPECT_TRUE(steady_first_tokens({none}, generating_trial()).empty());
  EXPECT_TRUE(steady_first_tokens({generating_rank()}, Trial{}).empty());
}

TEST(Generated, OneTokenHasNoTimeBetweenTokens) {
  RankResult rank;
  rank.samples_ns = {10, 12};
  rank.slices = {{0, 0, 22, 2, false, {}}};
  rank.tokens_ns = {9, 11};
  auto trial = generating_trial();
  trial.workload.generate = {.prompt_tokens = 5, .output_tokens = 1, .cache_precision = {}};
  const auto summary = summarise({rank}, trial).summary;
  ASSERT_TRUE(summary.generated);
  EXPECT_EQ(summary.generated->first_token_ns, 10);
  EXPECT_FALSE(summary.generated->token_ns || summary.generated->longest_ns);
  EXPECT_TRUE(summary.generated->curve_ns.empty());
  rank.tokens_ns.clear();
  EXPECT_FALSE(summarise({rank}, trial).summary.generated);
}

}  // namespace
}  // namespace assay::measure
