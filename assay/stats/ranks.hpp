#pragma once

#include <optional>
#include <vector>

namespace assay::stats {

/// What the order of two sides' values says, whatever their distances.
struct RankComparison {
  double p = 1;            ///< two-sided, that the sides do not differ
  double b_above_a = 0.5;  ///< share of pairs in which b is the larger; equal ones count half
};

/// Mann and Whitney's test. Equal values share their ranks: those of which only a lower bound is known can be given as
/// one value above all others. Exact up to 60 values, given the ties; beyond that by the normal distribution, with the
/// variance that ties leave and a correction for continuity. Null where a side is empty.
std::optional<RankComparison> by_ranks(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace assay::stats
