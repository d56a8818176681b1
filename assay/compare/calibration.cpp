#include "assay/compare/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "assay/stats/difference.hpp"
#include "assay/stats/moments.hpp"

namespace assay::compare {
namespace {

constexpr std::size_t kFewestPairs = 6;

/// Spread of the values of both sides around their own means.
double pooled_sd(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  return std::sqrt(((n - 1) * *stats::variance(a) + (m - 1) * *stats::variance(b)) / (n + m - 2));
}

double sd_of(const Noise& noise, Method method) {
  switch (method) {
    case Method::lockstep:
      return noise.pair;
    case Method::covariate:
      return noise.covariate.value_or(noise.process);
    default:
      return noise.process;
  }
}

/// A pair is one number; of processes there are two sides.
stats::Difference difference_of(const Noise& noise, Method method, double n) {
  const double sd = sd_of(noise, method);
  if (method == Method::lockstep) return {0, sd / std::sqrt(n), n - 1};
  return {0, sd * std::sqrt(2 / n), 2 * n - (method == Method::covariate ? 3 : 2)};
}

}  // namespace

Noise noise_of(const std::vector<store::RunRow>& rows) {
  std::vector<double> ratios;
  std::map<PairSide, std::vector<double>> medians;
  std::map<PairSide, std::vector<stats::Adjusted>> with_probe;
  for (const auto& row : rows) {
    if (row.outcome != OutcomeKind::ok || !row.pair || !row.summary.median_ns) continue;
    if (row.pair->side == PairSide::b && row.digest.pair_log_ratio) ratios.push_back(*row.digest.pair_log_ratio);
    const double median = std::log(static_cast<double>(*row.summary.median_ns));
    medians[row.pair->side].push_back(median);
    if (row.digest.probe_ns) with_probe[row.pair->side].push_back({median, std::log(*row.digest.probe_ns)});
  }
  if (ratios.size() < kFewestPairs) {
    fail(ErrorKind::failure, "{} good pairs are too few to learn from; {} are needed", ratios.size(), kFewestPairs);
  }
  Noise noise;
  noise.pairs = static_cast<std::int64_t>(ratios.size());
  noise.pair = std::sqrt(*stats::variance(ratios));
  const auto& a = medians[PairSide::a];
  const auto& b = medians[PairSide::b];
  noise.process = pooled_sd(a, b);
  if (const auto fit = stats::with_covariate(with_probe[PairSide::a], with_probe[PairSide::b])) {
    noise.covariate = noise.process * std::sqrt(1 - fit->explained);
  }
  return noise;
}

double by_chance(const Noise& noise, Method method, double n) {
  const auto difference = difference_of(noise, method, n);
  return stats::student_quantile(0.975, difference.degrees) * difference.standard_error;
}

double detectable(const Noise& noise, Method method, double n) {
  return stats::detectable(difference_of(noise, method, n));
}

bool knows(const std::vector<Calibration>& calibrations, const std::string& platform) {
  return std::any_of(calibrations.begin(), calibrations.end(),
                     [&](const Calibration& one) { return one.platform == platform; });
}

std::vector<Calibration> calibrations(store::Archive& store) {
  std::map<std::string, Calibration> newest;
  for (const auto& artifact : store.artifacts(kCalibrationKind)) {
    auto one = from_json<Calibration>(artifact.content, kCalibrationKind);
    newest[one.platform] = std::move(one);
  }
  std::vector<Calibration> out;
  for (auto& [platform, one] : newest) out.push_back(std::move(one));
  return out;
}

}  // namespace assay::compare
