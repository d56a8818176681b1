#pragma once

#include <optional>
#include <vector>

namespace assay::stats {

struct Interval {
  double low;
  double high;
};

/// Rank l (from 1) such that X(l)..X(n+1-l) covers the median with at least `confidence`: the largest l with
/// P(Bin(n, 1/2) <= l-1) <= (1-confidence)/2. Zero where no such rank exists (n < 6 at 95 %).
std::size_t median_interval_rank(std::size_t n, double confidence);

/// Values from which on there is such a rank: 6 at 95 %.
std::size_t fewest_for_interval(double confidence);

/// Distribution-free interval of the median of independent values, one per fresh process; never of raw iterations.
/// Null where there are too few values.
std::optional<Interval> median_interval(std::vector<double> values, double confidence = 0.95);

}  // namespace assay::stats
