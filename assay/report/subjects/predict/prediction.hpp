#pragma once

#include <string>
#include <vector>

#include "assay/predict/scaling.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// How a job scales, as a table with bars, what limits it, and what would help, in words.
Document scaling_prediction_document(const predict::ScalingPrediction& said);

/// One iteration for Perfetto and chrome://tracing: lanes for input, compute and communication.
json iteration_trace(const std::string& title, const std::vector<predict::Span>& spans);

}  // namespace assay::report
