#pragma once

#include <functional>
#include <vector>

namespace assay::predict {

/// A constant to be found, and where it may lie.
struct BoundedConstant {
  double start = 0;
  double low = 0;
  double high = 0;
};

/// What is left over at these values of the constants, one number for each observation.
using Residuals = std::function<std::vector<double>(const std::vector<double>&)>;

/// The constants with the least sum of squares, by the steps of Levenberg and Marquardt on those that are not held at
/// a bound. Slopes are taken by differences, so constants should be of the order of 1: give logarithms where their
/// order is not known. Finds the minimum that lies downhill of the start.
/// Precondition: low <= start <= high, and at least one observation.
std::vector<double> bounded_least_squares(const Residuals& residuals, const std::vector<BoundedConstant>& constants);

}  // namespace assay::predict
