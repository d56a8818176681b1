#pragma once

#include <cstddef>
#include <optional>

namespace assay::stats {

/// P(Bin(n, p) <= k), continued to real n and k by the incomplete beta function, as a sample with a design effect needs
/// it: n / effect independent trials of which k / effect succeeded. 0 for k < 0, 1 for k >= n. Precondition: 0 < p < 1.
double binomial_at_most(double n, double k, double p);

/// The fewest values that can show with `confidence` that a quantile is below a limit although one value is above it:
/// the smallest n with P(Bin(n, 1 - quantile) <= 1) <= 1 - confidence.
std::size_t least_for_quantile(double quantile, double confidence);

/// Ranks (from 1) of the order statistics between which a quantile of n values is with `confidence`; null where no
/// value is far enough out. `effect` is the design effect: how many values count as one that is independent.
struct QuantileRanks {
  std::optional<std::size_t> low;
  std::optional<std::size_t> high;
};
QuantileRanks quantile_ranks(std::size_t n, double quantile, double confidence, double effect = 1);

}  // namespace assay::stats
