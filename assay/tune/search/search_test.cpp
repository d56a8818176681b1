#include "assay/tune/search/search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>

#include "assay/core/error.hpp"

namespace assay::tune {
namespace {

/// Evaluations that were answered, by what was asked: what a store is to a real search.
struct Recorded {
  std::map<std::pair<std::size_t, std::size_t>, std::optional<double>> evaluations;  // candidate, n-th
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, double> ratios;        // a, b, n-th
};

struct Killed : std::runtime_error {
  Killed() : std::runtime_error("killed") {}
};

/// A function with noise. Each evaluation depends on the candidate and its number alone. It ends itself after `calls`
/// new answers.
class Synthetic : public Objective {
 public:
  Synthetic(std::function<std::optional<double>(std::size_t)> truth, double noise, Recorded& recorded,
            int calls = 1 << 30)
      : truth_(std::move(truth)), noise_(noise), recorded_(recorded), calls_(calls) {}

  std::vector<std::optional<double>> measure(const std::vector<std::size_t>& candidates) override {
    std::vector<std::optional<double>> out;
    for (const auto candidate : candidates) {
      const auto key = std::make_pair(candidate, asked_[candidate]++);
      if (!recorded_.evaluations.count(key)) {
        count();
        auto value = truth_(candidate);
        if (value) *value += noise_ * normal(1000 * candidate + key.second);
        recorded_.evaluations[key] = value;
      }
      out.push_back(recorded_.evaluations[key]);
      ++runs_;
    }
    asked_together_.push_back(candidates.size());
    return out;
  }

  std::vector<double> race(std::size_t a, std::size_t b, std::int64_t pairs) override {
    std::vector<double> out;
    for (std::int64_t i = 0; i < pairs; ++i) {
      const auto key = std::make_tuple(a, b, raced_[{a, b}]++);
      if (!recorded_.ratios.count(key)) {
        count();
        recorded_.ratios[key] =
            truth_(b).value() - truth_(a).value() + noise_ * normal(7 + 1000 * a + 31 * b + std::get<2>(key));
      }
      out.push_back(recorded_.ratios[key]);
      runs_ += 2;
    }
    return out;
  }

  SearchCost spent() const override { return {runs_, 2.0 * static_cast<double>(runs_)}; }
  const std::vector<std::size_t>& asked_together() const { return asked_together_; }

 private:
  void count() {
    if (calls_-- == 0) throw Killed();
  }
  static double normal(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    return std::normal_distribution<double>()(random);
  }

  std::function<std::optional<double>(std::size_t)> truth_;
  double noise_;
  Recorded& recorded_;
  int calls_;
  std::map<std::size_t, std::size_t> asked_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> raced_;
  std::vector<std::size_t> asked_together_;
  std::int64_t runs_ = 0;
};

/// A grid of 20 x 20 with its optimum at (13, 4).
constexpr std::size_t kOptimum = 13 * 20 + 4;

Problem grid(std::int64_t runs) {
  Problem out;
  for (int x = 0; x < 20; ++x) {
    for (int y = 0; y < 20; ++y) out.candidates.push_back({static_cast<double>(x), static_cast<double>(y)});
  }
  out.seeds = {0, 19, 380, 399, 190};
  out.budget.runs = runs;
  return out;
}

std::optional<double> bowl(std::size_t candidate) {
  const std::size_t row = candidate / 20;
  const std::size_t column = candidate % 20;
  const auto x = static_cast<double>(row);
  const auto y = static_cast<double>(column);
  return 0.01 * ((x - 13) * (x - 13) + (y - 4) * (y - 4));
}

Found found_with(const Problem& problem, double noise, Recorded& recorded, int calls = 1 << 30) {
  Synthetic objective(bowl, noise, recorded, calls);
  return search(problem, objective);
}

std::vector<std::pair<std::size_t, std::optional<double>>> trace(const Found& found) {
  std::vector<std::pair<std::size_t, std::optional<double>>> out;
  for (const auto& step : found.steps) out.emplace_back(step.candidate, step.cost);
  return out;
}

TEST(Search, FindsTheOptimumOfABowlInAFewRuns) {
  Recorded recorded;
  const auto found = found_with(grid(40), 0.01, recorded);
  EXPECT_LE(bowl(found.best).value(), 0.02) << found.best << " and not " << kOptimum;
}

TEST(Search, MeasuresSeedsFirstAndTogether) {
  Recorded recorded;
  Synthetic objective(bowl, 0.01, recorded);
  const auto problem = grid(40);
  const auto found = search(problem, objective);
  EXPECT_EQ(objective.asked_together().front(), problem.seeds.size());
  for (std::size_t i = 0; i < problem.seeds.size(); ++i) {
    EXPECT_EQ(found.steps[i].candidate, problem.seeds[i]);
    EXPECT_EQ(found.steps[i].why, Why::seed);
  }
}

TEST(Search, TheSameEvaluationsGiveTheSameSteps) {
  Recorded first;
  Recorded second;
  EXPECT_EQ(trace(found_with(grid(30), 0.02, first)), trace(found_with(grid(30), 0.02, second)));
}

TEST(Search, GoesOnWhereItWasKilledAtAnyCall) {
  Recorded whole;
  const auto expected = found_with(grid(24), 0.02, whole);
  const auto answers = static_cast<int>(whole.evaluations.size() + whole.ratios.size());
  for (int calls = 0; calls < answers; ++calls) {
    Recorded recorded;
    EXPECT_THROW(found_with(grid(24), 0.02, recorded, calls), Killed) << calls;
    const auto found = found_with(grid(24), 0.02, recorded);
    EXPECT_EQ(found.best, expected.best) << calls;
    EXPECT_EQ(trace(found), trace(expected)) << calls;
  }
}

TEST(Search, NeverExceedsItsRuns) {
  for (std::int64_t runs = 1; runs <= 25; ++runs) {
    Recorded recorded;
    Synthetic objective(bowl, 0.02, recorded);
    search(grid(runs), objective);
    EXPECT_LE(objective.spent().runs, runs);
    // What is left is no more than half a pair.
    EXPECT_GE(objective.spent().runs, runs - 1);
  }
}

TEST(Search, EndsAtItsSeconds) {
  Recorded recorded;
  Synthetic objective(bowl, 0.02, recorded);
  auto problem = grid(1000);
  problem.budget.seconds = 50;  // a run takes 2 s
  search(problem, objective);
  EXPECT_LE(objective.spent().seconds, 50);
  EXPECT_GE(objective.spent().seconds, 46);
}

TEST(Search, MeasuresTheWholeGridWhereItFitsAndAgainWhileARoundFits) {
  Problem problem;
  for (int i = 0; i < 6; ++i) problem.candidates.push_back({static_cast<double>(i)});
  problem.seeds = {4};
  problem.budget.runs = 20;  // 15 before the race: two rounds of 6
  Recorded recorded;
  Synthetic objective([](std::size_t i) { return std::optional(i == 2 ? 0.0 : 0.3); }, 0.01, recorded);
  const auto found = search(problem, objective);
  EXPECT_EQ(found.best, 2u);
  EXPECT_EQ(objective.asked_together(), (std::vector<std::size_t>{6, 6}));
  EXPECT_EQ(found.steps.front().candidate, 4u);
  for (const auto& costs : found.measured) EXPECT_EQ(costs.size(), 2u);
}

TEST(Search, OfSecondsMeasuresTheWholeGridOnceItIsKnownToFit) {
  Problem problem;
  for (int i = 0; i < 6; ++i) problem.candidates.push_back({static_cast<double>(i)});
  problem.seeds = {4, 1};
  problem.budget.seconds = 40;  // 15 runs of 2 s before the race: the seeds, the other 4, and one round of all 6
  Recorded recorded;
  Synthetic objective([](std::size_t i) { return std::optional(i == 2 ? 0.0 : 0.3); }, 0.01, recorded);
  const auto found = search(problem, objective);
  EXPECT_EQ(found.best, 2u);
  EXPECT_EQ(objective.asked_together(), (std::vector<std::size_t>{2, 4, 6}));
  EXPECT_LE(objective.spent().seconds, 40);
}

TEST(Search, ACandidateThatFailsIsNeverTheAnswerAndItsNeighboursMayBe) {
  Recorded recorded;
  const auto broken = [](std::size_t i) { return i == kOptimum ? std::nullopt : bowl(i); };
  Synthetic objective(broken, 0.005, recorded);
  const auto found = search(grid(60), objective);
  EXPECT_NE(found.best, kOptimum);
  // A neighbour costs .01 or .02 more.
  EXPECT_LE(bowl(found.best).value(), 0.021);
  EXPECT_LE(
      std::count_if(found.steps.begin(), found.steps.end(), [](const Step& s) { return s.candidate == kOptimum; }), 1);
}

TEST(Search, SaysSoWhereEverythingFailed) {
  Recorded recorded;
  Synthetic objective([](std::size_t) { return std::optional<double>(); }, 0, recorded);
  try {
    search(grid(20), objective);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failure);
    EXPECT_THAT(error.what(), testing::HasSubstr("all 5 candidates that were measured failed"));
  }
}

TEST(Search, NeedsABudgetAndCandidates) {
  Recorded recorded;
  Synthetic objective(bowl, 0, recorded);
  auto problem = grid(0);
  EXPECT_THROW(search(problem, objective), Error);
  problem.budget.runs.reset();
  EXPECT_THROW(search(problem, objective), Error);
  problem = grid(10);
  problem.candidates.clear();
  EXPECT_THROW(search(problem, objective), Error);
}

}  // namespace
}  // namespace assay::tune
