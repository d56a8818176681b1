#include "assay/predict/layer_sources/kineto_ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/predict/traces/trace_fixture.hpp"

namespace assay::predict {
namespace {

using testing::HasSubstr;

/// What differs between ranks.
struct MadeUpRank {
  std::int64_t number = 0;
  double slower = 1;  ///< how many times as long as the others it computes
  std::string first_operator = "aten::linear";
  int first_step = 1;
  std::int64_t job_ranks = 4;
};

/// Steps of 10, 30 and 20 times 100 us. In step k the two layers take 10 k and 20 k us forward, twice that backward,
/// the update 5 k us.
std::string profile_of(const MadeUpRank& rank) {
  WrittenTrace trace(rank.number, rank.job_ranks);
  double begin = 0;
  int sequence = 0;
  for (int k = 0; k < 3; ++k) {
    const std::array<double, 3> lengths{1000, 3000, 2000};
    const double unit = (k + 1) * rank.slower;
    const auto length = lengths[static_cast<std::size_t>(k)];
    trace.mark(fmt::format("ProfilerStep#{}", rank.first_step + k), begin, length);
    trace.add("cpu_op", rank.first_operator, begin + 1, 10 * unit, 1, {{"Sequence number", sequence}});
    trace.add("cpu_op", "aten::relu", begin + 200, 20 * unit, 1, {{"Sequence number", sequence + 1}});
    const auto backward = [&](double at, double us, int number) {
      trace.add("cpu_op", "autograd::engine::evaluate_function: B", begin + at, us, 2, {{"Sequence number", number}});
    };
    backward(300, 40 * unit, sequence + 1);
    backward(600, 20 * unit, sequence);
    trace.add("cpu_op", "torch::autograd::AccumulateGrad", begin + 800, 1, 2,
              {{"Input Dims", {{10, 4}}}, {"Input type", {"float"}}});
    trace.mark("Optimizer.step#SGD.step", begin + 900, 5 * unit);
    sequence += 2;
    begin += 5000;
  }
  return trace.text();
}

LayerTable joined_ranks(const std::vector<MadeUpRank>& ranks) {
  std::vector<RankSteps> steps;
  for (const auto& rank : ranks) {
    steps.push_back(rank_steps(profile_of(rank), fmt::format("r{}.json", rank.number), 4));
  }
  return joined_layers(std::move(steps));
}

std::string refusal_of_ranks(const std::vector<MadeUpRank>& ranks) {
  try {
    static_cast<void>(joined_ranks(ranks));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ImportRanks, TakeTheStepOfMedianLengthAndTheMedianRank) {
  // Step 3, of 2 ms, is the middle one: there layers take 30 and 60 us forward times 1, 1.5 and 4.
  const auto table = joined_ranks({{2, 4}, {0, 1}, {1, 1.5}});
  ASSERT_EQ(table.layers.size(), 2u);
  EXPECT_NEAR(table.layers[0].forward_seconds, 1.5 * 30e-6, 1e-9);
  EXPECT_NEAR(table.layers[0].backward_seconds, 1.5 * 60e-6, 1e-9);
  EXPECT_NEAR(table.layers[1].forward_seconds, 1.5 * 60e-6, 1e-9);
  EXPECT_NEAR(table.layers[1].backward_seconds, 1.5 * 120e-6, 1e-9);
  EXPECT_NEAR(table.update_seconds, 1.5 * 15e-6, 1e-9);
  EXPECT_EQ(table.gradient_bytes(), 160);
  EXPECT_EQ(table.why_not_joined, "");
  ASSERT_EQ(table.ranks.size(), 3u);
  EXPECT_EQ(table.ranks[2].rank, 2);
  EXPECT_EQ(table.ranks[2].file, "r2.json");
  EXPECT_NEAR(table.ranks[2].forward_seconds, 4 * 90e-6, 1e-9);
}

TEST(ImportRanks, OfOneRankAreWhatThatRankIs) {
  const auto text = profile_of({0, 1.5});
  const auto alone = layer_sources::kineto.read(text, "r0.json", 4);
  auto table = joined_layers({rank_steps(text, "r0.json", 4)});
  table.ranks.clear();
  EXPECT_EQ(to_json(table), to_json(alone));
}

TEST(ImportRanks, WithOtherLayersAreThoseOfTheRankThatComputesLongest) {
  const auto table = joined_ranks({{0, 1}, {1, 2, "aten::embedding"}, {3, 1.5}});
  EXPECT_THAT(table.why_not_joined, HasSubstr("layer 1 is 'aten::linear' on rank 0 and 'aten::embedding' on rank 1"));
  EXPECT_EQ(table.name, "r1.json");
  EXPECT_NEAR(table.layers[0].forward_seconds, 2 * 30e-6, 1e-9);
  EXPECT_EQ(table.ranks.size(), 3u);
}

TEST(ImportRanks, OfSeveralJobsOrOtherStepsAreRefused) {
  EXPECT_THAT(refusal_of_ranks({{1, 1}, {1, 2}}), HasSubstr("are both of rank 1"));
  EXPECT_THAT(refusal_of_ranks({{0, 1}, {1, 1, "aten::linear", 1, 8}}), HasSubstr("of a job of 4 ranks and"));
  EXPECT_THAT(refusal_of_ranks({{0, 1}, {1, 1, "aten::linear", 100}}), HasSubstr("have no step in common"));
  // Steps 1 to 3 and 3 to 5: step 3 takes 2 ms on the first and 1 ms on the second.
  EXPECT_NEAR(joined_ranks({{0, 1}, {1, 1, "aten::linear", 3}}).layers[0].forward_seconds, 0.5 * (30e-6 + 10e-6), 1e-9);
}

TEST(ImportRanks, WithTooManyStepsAreRefused) {
  WrittenTrace trace;
  for (int i = 0; i < 101; ++i) trace.mark("ProfilerStep#1", i, 1);
  EXPECT_THROW(static_cast<void>(rank_steps(trace.text(), "r.json", 1)), Error);
}

TEST(ImportRanks, WithoutANumberGetTheLowestThatIsFree) {
  EXPECT_EQ(ranks_of_job({{"a"}, {"b", 0}, {"c"}, {"d", 2}}), (std::vector<std::int64_t>{1, 0, 3, 2}));
}

}  // namespace
}  // namespace assay::predict
