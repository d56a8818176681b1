#pragma once

#include <string>
#include <vector>

#include "assay/predict/scaling.hpp"
#include "assay/report/look.hpp"

namespace assay::report {

/// How a job scales, as a table with bars, what limits it, and what would help, in words.
std::string scaling_prediction_report(const predict::ScalingPrediction& prediction, const Look& look);

/// One iteration for Perfetto and chrome://tracing: lanes for input, compute and communication.
json iteration_trace(const std::string& title, const std::vector<predict::Span>& spans);

}  // namespace assay::report
