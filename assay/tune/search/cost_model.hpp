#pragma once

#include <optional>
#include <set>
#include <vector>

#include "assay/tune/search/gaussian_process.hpp"

namespace assay::tune {

/// What is believed of the log cost of every candidate, from evaluations of some.
class CostModel {
 public:
  /// By their features, all of the same number.
  explicit CostModel(const std::vector<std::vector<double>>& candidates);

  /// `evaluations[i]` are those of candidate i; without any, or in `left_out`, it says nothing.
  /// Precondition: one candidate says something.
  void update(const std::vector<std::vector<double>>& evaluations, const std::set<std::size_t>& left_out);

  /// Of every candidate.
  const std::vector<Posterior>& predictions() const { return predictions_; }
  std::vector<std::vector<double>> covariance(const std::vector<std::size_t>& candidates) const;
  /// Standard deviation of one evaluation.
  double noise() const { return hyperparameters_.noise; }

 private:
  Observation observation(std::size_t candidate, const std::vector<double>& evaluations) const;

  std::vector<std::vector<double>> points_;  ///< features, scaled
  Prior prior_;
  Hyperparameters hyperparameters_;
  std::optional<GaussianProcess> process_;
  std::vector<Posterior> predictions_;
};

}  // namespace assay::tune
