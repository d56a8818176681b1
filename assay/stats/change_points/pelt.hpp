#pragma once

#include <cstddef>
#include <vector>

namespace assay::stats {

/// What a segmentation costs: n ln(max(variance, least_variance)) of each segment, and `penalty` for each change.
struct PeltOptions {
  double penalty = 0;
  double least_variance = 0;  ///< below this a segment is not told from a constant one; above 0
  std::size_t shortest = 3;   ///< segment
};

/// Where mean or variance of a series change: first index of every segment, the first being 0. The cheapest of all
/// segmentations, by PELT (Killick, Fearnhead, Eckley 2012). A series shorter than two segments is one.
std::vector<std::size_t> segment_starts(const std::vector<double>& values, const PeltOptions& options);

}  // namespace assay::stats
