#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "assay/stats/interval.hpp"

namespace assay::stats {

/// Confidence of everything below, in one direction.
constexpr double kTailConfidence = 0.99;

/// Independent samples from which on a quantile above the median is worth printing: the fewest of which the second
/// largest exceeds it with 99 % confidence, P(Bin(n, p) <= n - 2) >= .99: 64 for p90, 130 for p95, 662 for p99. The
/// largest alone would do with fewer, but then one interrupt is the answer. Precondition: 1/2 < p < 1.
std::size_t samples_for_quantile(double p);

/// Distribution-free interval of a quantile: order statistics, each end of which holds with 99 % confidence where
/// samples are independent. Null below samples_for_quantile(p). Precondition: sorted.
std::optional<Interval> quantile_interval_sorted(const std::vector<double>& sorted, double p);

/// What counting says about "at most a share `allowed` of all exceeds a limit".
enum class Kept {
  proved,     ///< so few beyond it would be seen with at most 1 % where more than that share were
  undecided,  ///< both are possible
  broken,     ///< so many beyond it would be seen with at most 1 % where no more than that share were
};

/// The exact binomial test of `over` of `n` independent samples beyond a limit. Precondition: 0 < allowed < 1,
/// over <= n.
Kept judge_tail(std::size_t n, std::size_t over, double allowed);

}  // namespace assay::stats
