#include "assay/stats/hampel.hpp"

#include <algorithm>
#include <cmath>

#include "assay/stats/quantile.hpp"

namespace assay::stats {
namespace {

constexpr double kDeviationPerMad = 1.4826;  // of a normal distribution

struct Limits {
  double middle;
  double distance;

  /// -1 below, 1 above, 0 within.
  int side(double value) const {
    if (std::abs(value - middle) <= distance) return 0;
    return value < middle ? -1 : 1;
  }
};

Limits limits_of(std::vector<double> window, const HampelRule& rule) {
  const double middle = median(window);
  for (double& value : window) value = std::abs(value - middle);
  return {middle, std::max(rule.limit * kDeviationPerMad * median(std::move(window)), rule.least)};
}

/// Length of the run of values around `at` that lie on the same side of its limits.
std::size_t run_length(const std::vector<double>& series, std::size_t at, const Limits& limits) {
  const int side = limits.side(series[at]);
  std::size_t first = at;
  std::size_t last = at;
  while (first > 0 && limits.side(series[first - 1]) == side) --first;
  while (last + 1 < series.size() && limits.side(series[last + 1]) == side) ++last;
  return last - first + 1;
}

}  // namespace

std::vector<bool> hampel_outliers(const std::vector<double>& series, const HampelRule& rule) {
  std::vector<bool> out(series.size(), false);
  for (std::size_t i = 0; i < series.size(); ++i) {
    const auto begin = series.begin() + static_cast<std::ptrdiff_t>(i - std::min(i, rule.half));
    const auto end = series.begin() + static_cast<std::ptrdiff_t>(std::min(i + rule.half + 1, series.size()));
    const Limits limits = limits_of({begin, end}, rule);
    out[i] = limits.side(series[i]) != 0 && run_length(series, i, limits) < rule.run;
  }
  return out;
}

}  // namespace assay::stats
