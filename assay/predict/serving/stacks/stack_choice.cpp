#include "assay/predict/serving/stacks/stack_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace assay::predict {
namespace {

constexpr std::size_t kLengthParts = 4;
constexpr std::size_t kLeastFolds = 3;
constexpr double kUsualTokenError = 0.06;
constexpr double kUsualFirstError = 0.2;

/// Rows with the number of the fold that each is in.
struct FoldedRows {
  std::vector<ServingRow> rows;
  std::vector<std::size_t> folds;
  std::size_t count = 0;
};

std::string length_of(const ServingRow& row) {
  return fmt::format("{} {}", row.point.prompt_tokens, row.point.output_tokens);
}

FoldedRows folded(const std::vector<ServingRow>& rows, ServingMode mode) {
  FoldedRows all;
  const bool closed = mode == ServingMode::closed_loop;
  std::set<std::string> names;
  for (const auto& row : rows) {
    if (row.point.mode == mode) names.insert(closed ? length_of(row) : fold_of(row));
  }
  for (const auto& row : rows) {
    if (row.point.mode != mode) continue;
    const auto place = std::distance(names.begin(), names.find(closed ? length_of(row) : fold_of(row)));
    const auto number = static_cast<std::size_t>(place);
    all.rows.push_back(row);
    all.folds.push_back(closed ? number % kLengthParts : number);
  }
  all.count = closed ? std::min(kLengthParts, names.size()) : names.size();
  return all;
}

struct MeanError {
  double sum = 0;
  double count = 0;

  void add(double predicted, const std::optional<double>& measured) {
    if (!measured) return;
    sum += std::abs(predicted / *measured - 1);
    count += 1;
  }
  double mean() const { return count > 0 ? sum / count : 0; }
};

PriorScore score_of(const StackPrior& prior, const FoldedRows& all, const DeviceTimes& times, ServingMode mode) {
  ServingPriors priors;
  (mode == ServingMode::closed_loop ? priors.closed : priors.at_once) = &prior;
  MeanError token;
  MeanError first;
  for (std::size_t fold = 0; fold < all.count; ++fold) {
    std::vector<ServingRow> kept;
    for (std::size_t i = 0; i < all.rows.size(); ++i) {
      if (all.folds[i] != fold) kept.push_back(all.rows[i]);
    }
    if (kept.empty()) continue;
    const CalibratedStacks stacks(kept, times, priors, false);
    for (std::size_t i = 0; i < all.rows.size(); ++i) {
      const auto& row = all.rows[i];
      if (all.folds[i] != fold || !stacks.stacks().contains(row.stack.text())) continue;
      const auto said = stacks.predict(row.stack, row.device, row.point).times;
      token.add(said.token_seconds, row.token_seconds);
      first.add(said.first_token_seconds, row.first_token_seconds);
    }
  }
  return {prior.name, token.mean(), first.mean(), token.mean() / kUsualTokenError + first.mean() / kUsualFirstError};
}

}  // namespace

PriorChoice choose_prior(const std::vector<ServingRow>& rows, const DeviceTimes& times, ServingMode mode) {
  PriorChoice choice{&chosen_prior(mode), {}};
  const auto all = folded(rows, mode);
  if (all.count < kLeastFolds) return choice;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& prior : candidate_priors(mode)) {
    choice.scores.push_back(score_of(prior, all, times, mode));
    if (choice.scores.back().score >= least) continue;
    least = choice.scores.back().score;
    choice.prior = &prior;
  }
  return choice;
}

}  // namespace assay::predict
