#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "assay/stats/difference.hpp"

namespace assay::tune {

/// Log costs of a few finalists as they are believed to be: jointly normal. Each lock-step pair adds what it says.
class Beliefs {
 public:
  /// `noise` is the standard deviation of one evaluation, known as well as `evaluations` of them tell.
  Beliefs(std::vector<double> means, std::vector<std::vector<double>> covariance, double noise,
          std::size_t evaluations);

  /// One more log-ratio of cost of b to a.
  void add(std::size_t a, std::size_t b, double log_ratio);

  /// b - a, with everything that is known.
  stats::Difference difference(std::size_t a, std::size_t b) const;

  /// How much `pairs` pairs of b against a are expected to gain by b turning out cheaper.
  double promise(std::size_t a, std::size_t b, std::size_t pairs) const;

 private:
  struct RacePair {
    std::size_t a;
    std::size_t b;
    double log_ratio;
  };

  /// Variance of one pair's log-ratio: of two evaluations, until pairs have shown their own.
  double pair_variance() const;

  std::vector<double> means_;
  std::vector<std::vector<double>> covariance_;
  double noise_;
  std::size_t evaluations_;
  std::vector<RacePair> pairs_;
};

/// The rule of a race: b takes the lead only where it is proven cheaper (95 %) and by more than 1 %.
bool overtakes(const stats::Difference& b_minus_a);

}  // namespace assay::tune
