#pragma once

#include <optional>
#include <vector>

namespace assay::stats {

/// Precondition: not empty.
double mean(const std::vector<double>& values);

/// Sample variance (n-1), by two passes with the rounding of the mean corrected. Null below two values.
std::optional<double> variance(const std::vector<double>& values);

/// Correlation of neighbours in a series: near 0 for independent samples. Null below three values or without variance.
std::optional<double> lag1_autocorrelation(const std::vector<double>& values);

}  // namespace assay::stats
