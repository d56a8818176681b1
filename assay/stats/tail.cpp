#include "assay/stats/tail.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/error.hpp"
#include "assay/stats/binomial.hpp"

namespace assay::stats {
namespace {

/// P(Bin(n, p) <= k).
double at_most(std::size_t k, std::size_t n, double p) {
  return binomial_at_most(static_cast<double>(n), static_cast<double>(k), p);
}

/// P(Bin(n, p) >= k): at least k succeed where at most n - k fail.
double at_least(std::size_t k, std::size_t n, double p) {
  return at_most(n - k, n, 1 - p);
}

}  // namespace

std::size_t samples_for_quantile(double p) {
  ASSAY_CHECK(p > 0.5 && p < 1);
  return least_for_quantile(p, kTailConfidence);
}

std::optional<Interval> quantile_interval_sorted(const std::vector<double>& sorted, double p) {
  const auto n = sorted.size();
  if (n < samples_for_quantile(p)) return std::nullopt;
  // X(l) <= quantile <= X(u), from 1: the number of samples below the quantile is Bin(n, p).
  const auto middle = static_cast<std::size_t>(std::ceil(static_cast<double>(n) * p));
  std::size_t high = std::clamp<std::size_t>(middle, 1, n);
  while (high < n && at_most(high - 1, n, p) < kTailConfidence) ++high;
  std::size_t low = std::clamp<std::size_t>(middle, 1, n);
  while (low > 1 && at_least(low, n, p) < kTailConfidence) --low;
  return Interval{sorted[low - 1], sorted[high - 1]};
}

Kept judge_tail(std::size_t n, std::size_t over, double allowed) {
  ASSAY_CHECK(over <= n && allowed > 0 && allowed < 1);
  if (at_most(over, n, allowed) <= 1 - kTailConfidence) return Kept::proved;
  if (at_least(over, n, allowed) <= 1 - kTailConfidence) return Kept::broken;
  return Kept::undecided;
}

}  // namespace assay::stats
