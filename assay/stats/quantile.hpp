#pragma once

#include <vector>

namespace assay::stats {

/// Quantile of type 7 (linear between order statistics), as numpy's and R's default. `values` need no order.
/// Precondition: not empty, 0 <= p <= 1.
double quantile(std::vector<double> values, double p);

/// The same for values that are sorted already, in constant time.
double quantile_sorted(const std::vector<double>& sorted, double p);

/// quantile(values, 1/2).
double median(std::vector<double> values);

}  // namespace assay::stats
