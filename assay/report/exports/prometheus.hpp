#pragma once

#include <string>
#include <vector>

#include "assay/report/results/result.hpp"

namespace assay::report {

/// Results in the text format of Prometheus, for the textfile collector of its node exporter. Each result has the same
/// labels in every metric; what was not measured has no line. Precondition: (trial, platform) is unique in `results`.
std::string prometheus_report(const std::vector<Result>& results);

}  // namespace assay::report
