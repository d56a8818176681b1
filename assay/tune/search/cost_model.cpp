#include "assay/tune/search/cost_model.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/error.hpp"
#include "assay/stats/moments.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::tune {
namespace {

/// Of numbers that are even over 0..1: the features' unit.
constexpr double kDeviation = 0.288675134594812882;
/// Lengths expected of features: numbers change everything, a choice (two values) little. Chosen on synthetic machines.
constexpr double kNumberLength = 0.5;
constexpr double kNumberSpread = 0.9;
constexpr double kChoiceLength = 3;
constexpr double kChoiceSpread = 0.6;
/// Candidates that hyperparameters are fitted to at most: more would take long and say little new.
constexpr std::size_t kFitted = 200;
/// Two evaluations that differ by this many deviations: the slower was disturbed.
constexpr double kDisturbed = 4;

/// Around 0 with the same deviation. Not by their range: one guide with thousands of threads would press all others
/// together.
std::vector<double> scaled(const std::vector<double>& values) {
  const double mean = stats::mean(values);
  const double unit = std::sqrt(stats::variance(values).value_or(0)) / kDeviation;
  std::vector<double> out;
  for (const double value : values) out.push_back(unit > 0 ? (value - mean) / unit : 0);
  return out;
}

}  // namespace

CostModel::CostModel(const std::vector<std::vector<double>>& candidates) : points_(candidates) {
  for (std::size_t f = 0; f < points_.front().size(); ++f) {
    std::vector<double> values;
    for (const auto& point : points_) {
      ASSAY_CHECK(point.size() == points_.front().size());
      values.push_back(point[f]);
    }
    const auto units = scaled(values);
    for (std::size_t i = 0; i < points_.size(); ++i) points_[i][f] = units[i];
    const std::set<double> levels(values.begin(), values.end());
    const bool choice = levels.size() <= 2;
    prior_.medians.lengths.push_back(choice ? kChoiceLength : kNumberLength);
    prior_.length_spreads.push_back(choice ? kChoiceSpread : kNumberSpread);
  }
  hyperparameters_ = prior_.medians;
}

Observation CostModel::observation(std::size_t candidate, const std::vector<double>& evaluations) const {
  Observation out{points_[candidate], stats::median(evaluations), static_cast<double>(evaluations.size())};
  if (evaluations.size() == 2 && std::fabs(evaluations[0] - evaluations[1]) > kDisturbed * noise()) {
    out.value = std::min(evaluations[0], evaluations[1]);
    out.evaluations = 1;
  }
  return out;
}

void CostModel::update(const std::vector<std::vector<double>>& evaluations, const std::set<std::size_t>& left_out) {
  std::vector<Observation> all;
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    if (!evaluations[i].empty() && !left_out.count(i)) all.push_back(observation(i, evaluations[i]));
  }
  if (all.size() > kFitted) {
    std::vector<Observation> some;
    for (std::size_t i = 0; i < kFitted; ++i) some.push_back(all[i * all.size() / kFitted]);
    process_.emplace(fit(some, hyperparameters_, prior_), all);
  } else {
    process_.emplace(fit_despite_outliers(all, hyperparameters_, prior_));
  }
  hyperparameters_ = process_->hyperparameters();
  predictions_ = process_->predict(points_);
}

std::vector<std::vector<double>> CostModel::covariance(const std::vector<std::size_t>& candidates) const {
  std::vector<std::vector<double>> points;
  for (const auto candidate : candidates) points.push_back(points_[candidate]);
  return process_->covariance(points);
}

}  // namespace assay::tune
