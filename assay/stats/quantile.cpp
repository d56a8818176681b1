#include "assay/stats/quantile.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/error.hpp"

namespace assay::stats {

double quantile_sorted(const std::vector<double>& sorted, double p) {
  ASSAY_CHECK(!sorted.empty());
  ASSAY_CHECK(p >= 0 && p <= 1);
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const auto above = std::min(below + 1, sorted.size() - 1);
  const double part = position - std::floor(position);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

double quantile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return quantile_sorted(values, p);
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

}  // namespace assay::stats
