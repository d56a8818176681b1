#include "assay/stats/binomial.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

#include "assay/core/error.hpp"

namespace assay::stats {
namespace {

/// The largest real k below n with P(Bin(n, p) <= k) <= share; null where even k = 0 has more.
std::optional<double> largest_at_most(double n, double p, double share) {
  if (binomial_at_most(n, 0, p) > share) return std::nullopt;
  double low = 0;
  double high = n;
  for (int i = 0; i < 60; ++i) {
    const auto middle = (low + high) / 2;
    (binomial_at_most(n, middle, p) <= share ? low : high) = middle;
  }
  return low;
}

}  // namespace

double binomial_at_most(double n, double k, double p) {
  ASSAY_CHECK(p > 0 && p < 1);
  if (k < 0) return 0;
  if (k >= n) return 1;
  return boost::math::ibeta(n - k, k + 1, 1 - p);
}

std::size_t least_for_quantile(double quantile, double confidence) {
  std::size_t n = 2;
  while (binomial_at_most(static_cast<double>(n), 1, 1 - quantile) > 1 - confidence) ++n;
  return n;
}

QuantileRanks quantile_ranks(std::size_t n, double quantile, double confidence, double effect) {
  const auto trials = static_cast<double>(n) / effect;
  const auto tail = (1 - confidence) / 2;
  QuantileRanks ranks;
  // At most k values below the quantile is rare: the (k+1)th is below it. The other side is the same from above.
  const auto rank_of = [&](double k) {
    return std::clamp<std::size_t>(static_cast<std::size_t>(std::floor((k + 1) * effect + 1e-9)), 1, n);
  };
  if (const auto low = largest_at_most(trials, quantile, tail)) ranks.low = rank_of(std::floor(*low * effect) / effect);
  if (const auto high = largest_at_most(trials, 1 - quantile, tail)) {
    ranks.high = n + 1 - rank_of(std::floor(*high * effect) / effect);
  }
  return ranks;
}

}  // namespace assay::stats
