#pragma once

#include <string>
#include <vector>

#include "assay/predict/serving/stacks/stack_fit.hpp"

namespace assay::predict {

/// How far off a prior's predictions are on calibration rows that were left out.
struct PriorScore {
  std::string prior;
  double token_error = 0;  ///< mean of |predicted / measured - 1|
  double first_token_error = 0;
  double score = 0;  ///< the sum of both, each over what is usual of it; the least is chosen
};

template <typename V>
void describe(V& v, PriorScore& p) {
  required(v, "prior", p.prior);
  required(v, "token_error", p.token_error);
  required(v, "first_token_error", p.first_token_error);
  required(v, "score", p.score);
}

struct PriorChoice {
  const StackPrior* prior = nullptr;
  std::vector<PriorScore> scores;  ///< of every candidate; empty where there are too few rows to choose by
};

/// The candidate with the least errors on these rows, cross-validated: of closed loops whole lengths are left out in
/// four parts, of static batches one configuration after the other. Only rows of one way of serving count; the chosen
/// prior of the program where there are fewer than three folds.
PriorChoice choose_prior(const std::vector<ServingRow>& rows, const DeviceTimes& times, ServingMode mode);

}  // namespace assay::predict
