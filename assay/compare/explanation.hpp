#pragma once

#include <string>
#include <vector>

#include "assay/compare/compare.hpp"

namespace assay::compare {

/// What one part of a step, a phase or a layer, adds to a difference.
struct PartDifference {
  std::string name;
  double a_seconds = 0;
  double b_seconds = 0;

  double seconds() const { return b_seconds - a_seconds; }
};

/// A part with its time on either side, as measured.
struct PartTime {
  std::string name;
  double seconds = 0;
};

/// Parts of both sides by their names, the largest difference first. A part that one side does not have takes 0 there.
std::vector<PartDifference> explain(const std::vector<PartTime>& a, const std::vector<PartTime>& b);

/// The phases of a comparison's sides; empty where one side did not time them.
std::vector<PartDifference> explain_phases(const Comparison& comparison);

}  // namespace assay::compare
