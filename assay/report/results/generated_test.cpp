#include "assay/report/results/generated.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::report {
namespace {

Summary generating(std::int64_t first, std::int64_t token, std::vector<std::int64_t> curve) {
  Summary summary;
  auto& g = summary.generated.emplace();
  g.first_token_ns = first;
  g.token_ns = token;
  g.curve_ns = std::move(curve);
  g.weights_bytes = 100;
  return summary;
}

TEST(Generated, EachFigureAndEachPointOfTheCurveIsTheMedianOfTheRuns) {
  const auto a = generating(10, 5, {4, 5, 7});
  const auto b = generating(30, 7, {6, 7, 9});
  const auto c = generating(20, 6, {50, 6, 8});
  const Summary none;
  const auto together = generated_of({&a, &none, &b, &c});
  ASSERT_TRUE(together);
  EXPECT_EQ(together->first_token_ns, 20);
  EXPECT_EQ(together->token_ns, 6);
  EXPECT_EQ(together->curve_ns, (std::vector<std::int64_t>{6, 6, 8}));  // of 4, 6, 50; of 5, 7, 6; of 7, 9, 8
  EXPECT_EQ(together->weights_bytes, 100);
  EXPECT_FALSE(together->cache_bytes);
  EXPECT_FALSE(generated_of({&none}));
}

TEST(Generated, ThePersonIsToldTheContextOfEachTime) {
  const auto a = generating(10'000'000, 5'000'000, {4'000'000, 5'000'000, 7'000'000});
  const auto lines = generated_lines(*a.generated, {.prompt_tokens = 128, .output_tokens = 4, .cache_precision = {}});
  EXPECT_THAT(lines,
              testing::Contains("time of a token over the context: 4 ms after 129 tokens, 5 ms after 130 tokens, "
                                "7 ms after 131 tokens"));
}

}  // namespace
}  // namespace assay::report
