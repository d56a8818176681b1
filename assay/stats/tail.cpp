#include "assay/stats/tail.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>

#include "assay/core/error.hpp"

namespace assay::stats {
namespace {

/// P(Bin(n, p) <= k).
double at_most(std::size_t k, std::size_t n, double p) {
  if (k >= n) return 1;
  const boost::math::binomial_distribution<double> binomial(static_cast<double>(n), p);
  return boost::math::cdf(binomial, static_cast<double>(k));
}

/// P(Bin(n, p) >= k), without the loss of digits of 1 - P(… <= k - 1).
double at_least(std::size_t k, std::size_t n, double p) {
  if (k == 0) return 1;
  const boost::math::binomial_distribution<double> binomial(static_cast<double>(n), p);
  return boost::math::cdf(boost::math::complement(binomial, static_cast<double>(k - 1)));
}

}  // namespace

std::size_t samples_for_quantile(double p) {
  ASSAY_CHECK(p > 0.5 && p < 1);
  // Two or more of n beyond the quantile: all but p^n + n (1 - p) p^(n - 1), which falls from n = 2 on.
  const auto is_enough = [p](std::size_t n) {
    const auto count = static_cast<double>(n);
    return std::pow(p, count) + count * (1 - p) * std::pow(p, count - 1) <= 1 - kTailConfidence;
  };
  std::size_t n = 2;
  while (!is_enough(n)) ++n;
  return n;
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
