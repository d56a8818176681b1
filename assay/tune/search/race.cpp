#include "assay/tune/search/race.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "assay/tune/search/gaussian_process.hpp"

namespace assay::tune {
namespace {

/// Least gain that is worth a change.
constexpr double kGain = 0.01;

}  // namespace

Beliefs::Beliefs(std::vector<double> means, std::vector<std::vector<double>> covariance, double noise,
                 std::size_t evaluations)
    : means_(std::move(means)), covariance_(std::move(covariance)), noise_(noise), evaluations_(evaluations) {}

double Beliefs::pair_variance() const {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> groups;
  for (const auto& pair : pairs_) {
    const bool turned = pair.b < pair.a;
    groups[std::minmax(pair.a, pair.b)].push_back(turned ? -pair.log_ratio : pair.log_ratio);
  }
  // The noise of evaluations weighs as much as one degree of freedom of pairs.
  double squares = 2 * noise_ * noise_;
  double degrees = 1;
  for (const auto& [sides, ratios] : groups) {
    if (const auto found = stats::paired(ratios)) {
      const auto n = static_cast<double>(ratios.size());
      squares += found->standard_error * found->standard_error * n * (n - 1);
      degrees += n - 1;
    }
  }
  return squares / degrees;
}

void Beliefs::add(std::size_t a, std::size_t b, double log_ratio) {
  pairs_.push_back({a, b, log_ratio});
  std::vector<double> gain;
  for (std::size_t i = 0; i < means_.size(); ++i) gain.push_back(covariance_[i][b] - covariance_[i][a]);
  const double surprise = log_ratio - (means_[b] - means_[a]);
  double variance = gain[b] - gain[a] + pair_variance();
  // A side that was disturbed: a surprise counts as three deviations at most.
  variance = std::max(variance, std::fabs(surprise) * std::sqrt(variance) / 3);
  for (std::size_t i = 0; i < means_.size(); ++i) means_[i] += gain[i] * surprise / variance;
  for (std::size_t i = 0; i < means_.size(); ++i) {
    for (std::size_t j = 0; j < means_.size(); ++j) covariance_[i][j] -= gain[i] * gain[j] / variance;
  }
}

stats::Difference Beliefs::difference(std::size_t a, std::size_t b) const {
  const double variance = covariance_[a][a] + covariance_[b][b] - 2 * covariance_[a][b];
  const double degrees = std::max<double>(1, static_cast<double>(evaluations_ + pairs_.size()) - 1);
  return {means_[b] - means_[a], std::sqrt(std::max(variance, 1e-12)), degrees};
}

double Beliefs::promise(std::size_t a, std::size_t b, std::size_t pairs) const {
  const auto found = difference(a, b);
  const double variance = found.standard_error * found.standard_error;
  const double seen = std::sqrt(variance + pair_variance() / static_cast<double>(pairs));
  return expected_improvement(found.estimate, variance / seen, 0);
}

bool overtakes(const stats::Difference& b_minus_a) {
  return stats::interval_of(b_minus_a).high < 0 && b_minus_a.estimate < std::log1p(-kGain);
}

}  // namespace assay::tune
