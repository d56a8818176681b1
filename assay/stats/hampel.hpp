#pragma once

#include <cstddef>
#include <vector>

namespace assay::stats {

/// When a value counts as an outlier among its neighbours in a series.
struct HampelRule {
  std::size_t half = 5;  ///< values on each side of a value's window: 5 make a window of 11
  double limit = 3;      ///< in standard deviations, each estimated as 1.4826 times the window's MAD
  double least = 0;      ///< a value nearer to the median than this is never one, however quiet the window is
  std::size_t run = 3;   ///< so many neighbours beyond the same side of the limits are a level, and no outliers
};

/// Hampel's identifier: which values lie beyond the median of their window by more than its deviation allows. Windows
/// end where the series does. Rule of L. Davies and U. Gather, "The identification of multiple outliers", 1993; a `run`
/// of values is kept, so that the newest points after a large step are not taken for noise.
std::vector<bool> hampel_outliers(const std::vector<double>& series, const HampelRule& rule = {});

}  // namespace assay::stats
