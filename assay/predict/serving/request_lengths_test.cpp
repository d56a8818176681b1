#include "assay/predict/serving/request_lengths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay::predict {
namespace {

constexpr std::int64_t kMany = 400'000;

struct Moments {
  double mean = 0;
  double deviation = 0;  ///< as a share of the mean
};

Moments moments_of(const std::vector<RequestLength>& drawn, std::int64_t RequestLength::*tokens) {
  double sum = 0;
  double squares = 0;
  for (const auto& one : drawn) {
    const auto value = static_cast<double>(one.*tokens);
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(drawn.size());
  const double mean = sum / count;
  return {mean, std::sqrt(squares / count - mean * mean) / mean};
}

TEST(RequestLengths, AlikeAreTheMean) {
  for (const auto& one : drawn_lengths({}, {100, 20}, 10, 1)) {
    EXPECT_EQ(one.prompt_tokens, 100);
    EXPECT_EQ(one.output_tokens, 20);
  }
}

TEST(RequestLengths, UniformOnesHaveTheMeanAndTheDeviationOfTheory) {
  // Within 1000 +- 600: the deviation is 600 / sqrt(3). Of 400,000 draws the mean is off by .35 / 632 = .06 %.
  const auto drawn = drawn_lengths({LengthKind::uniform, 0.6, {}}, {1000, 500}, kMany, 1);
  const auto prompts = moments_of(drawn, &RequestLength::prompt_tokens);
  EXPECT_NEAR(prompts.mean / 1000, 1, 0.003);
  EXPECT_NEAR(prompts.deviation / (0.6 / std::sqrt(3.0)), 1, 0.01);
  EXPECT_NEAR(moments_of(drawn, &RequestLength::output_tokens).mean / 500, 1, 0.003);
  for (const auto& one : drawn) {
    ASSERT_GE(one.prompt_tokens, 400);
    ASSERT_LE(one.prompt_tokens, 1600);
  }
}

TEST(RequestLengths, LognormalOnesHaveTheMeanAndTheDeviationOfTheory) {
  // Deviation over mean is sqrt(exp(s^2) - 1) = .5329 at s = .5; the median is exp(-s^2 / 2) of the mean.
  const auto drawn = drawn_lengths({LengthKind::lognormal, 0.5, {}}, {2000, 300}, kMany, 1);
  const auto prompts = moments_of(drawn, &RequestLength::prompt_tokens);
  EXPECT_NEAR(prompts.mean / 2000, 1, 0.005);
  EXPECT_NEAR(prompts.deviation / std::sqrt(std::exp(0.25) - 1), 1, 0.02);
  const auto below = std::count_if(drawn.begin(), drawn.end(), [](const RequestLength& one) {
    return static_cast<double>(one.prompt_tokens) < 2000 * std::exp(-0.125);
  });
  EXPECT_NEAR(static_cast<double>(below) / static_cast<double>(kMany), 0.5, 0.005);
  // Prompts and answers are drawn apart: their correlation is that of chance, 1 / sqrt(400,000) = .0016.
  double product = 0;
  for (const auto& one : drawn) {
    product += (static_cast<double>(one.prompt_tokens) / 2000 - 1) * (static_cast<double>(one.output_tokens) / 300 - 1);
  }
  EXPECT_NEAR(product / static_cast<double>(kMany) / (0.5329 * 0.5329), 0, 0.01);
}

TEST(RequestLengths, ListedPairsStayTogetherAndAreDrawnAlikeOften) {
  const std::vector<RequestLength> listed{{100, 1}, {200, 2}, {600, 6}};
  const auto drawn = drawn_lengths({LengthKind::listed, 0, listed}, mean_length(listed), kMany, 5);
  std::int64_t counts[7] = {};
  for (const auto& one : drawn) {
    ASSERT_EQ(one.prompt_tokens, 100 * one.output_tokens);
    ++counts[one.output_tokens];
  }
  for (const int kind : {1, 2, 6}) {
    EXPECT_NEAR(static_cast<double>(counts[kind]) / static_cast<double>(kMany), 1.0 / 3, 0.005);
  }
  EXPECT_EQ(mean_length(listed).prompt_tokens, 300);
  EXPECT_EQ(mean_length(listed).output_tokens, 3);
}

TEST(RequestLengths, MoreRequestsBeginWithThoseOfFewerAndAnotherSeedDiffers) {
  const LengthSpread spread{LengthKind::lognormal, 1, {}};
  const auto few = drawn_lengths(spread, {1000, 1000}, 100, 3);
  const auto many = drawn_lengths(spread, {1000, 1000}, 200, 3);
  const auto other = drawn_lengths(spread, {1000, 1000}, 100, 4);
  std::int64_t same = 0;
  for (std::size_t i = 0; i < few.size(); ++i) {
    EXPECT_EQ(few[i].prompt_tokens, many[i].prompt_tokens);
    if (few[i].prompt_tokens == other[i].prompt_tokens) ++same;
  }
  EXPECT_LT(same, 10);
}

TEST(RequestLengths, NoneIsBelowOneToken) {
  for (const auto& one : drawn_lengths({LengthKind::lognormal, 3, {}}, {2, 2}, 1000, 1)) {
    ASSERT_GE(one.prompt_tokens, 1);
    ASSERT_GE(one.output_tokens, 1);
  }
}

}  // namespace
}  // namespace assay::predict
