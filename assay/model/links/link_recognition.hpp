#pragma once

#include <limits>
#include <vector>

#include "assay/model/links/link_points.hpp"

namespace assay::model {

/// An algorithm and how far it is from points that it was not fitted to: root of the mean square, relative.
struct AlgorithmCandidate {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  double error = 0;
};

/// Sizes in which one algorithm may be at work.
struct SizeRange {
  double from = 0;
  double below = std::numeric_limits<double>::infinity();
  std::vector<AlgorithmCandidate> candidates;  ///< the nearest first

  bool holds(double bytes) const { return bytes >= from && bytes < below; }
};

struct Recognition {
  std::vector<SizeRange> ranges;  ///< one or two
  double error = 0;               ///< of the nearest of each, together
};

/// Which algorithm the points follow. Three parts are held out in turn: the largest number of ranks (where there are
/// several), the largest size, and every second size; each weighs the same. Two ranges are told where they have four
/// sizes each and the error is less than .7 of that of one; with few points, less than a smaller share.
/// Precondition: all of `collective`, of three sizes or more.
Recognition recognise(Collective collective, const std::vector<LinkPoint>& points);

}  // namespace assay::model
