#include "assay/stats/interval.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>

namespace assay::stats {

std::size_t median_interval_rank(std::size_t n, double confidence) {
  if (n == 0) return 0;
  const boost::math::binomial_distribution<double> coins(static_cast<double>(n), 0.5);
  const double tail = (1 - confidence) / 2;
  std::size_t rank = 0;
  while (rank < (n + 1) / 2 && boost::math::cdf(coins, static_cast<double>(rank)) <= tail) ++rank;
  return rank;
}

std::size_t fewest_for_interval(double confidence) {
  std::size_t n = 1;
  while (median_interval_rank(n, confidence) == 0) ++n;
  return n;
}

std::optional<Interval> median_interval(std::vector<double> values, double confidence) {
  const std::size_t rank = median_interval_rank(values.size(), confidence);
  if (rank == 0) return std::nullopt;
  std::sort(values.begin(), values.end());
  return Interval{values[rank - 1], values[values.size() - rank]};
}

}  // namespace assay::stats
