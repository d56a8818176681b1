#pragma once

#include <string>

#include "assay/core/text/json.hpp"
#include "assay/predict/step/step_graph.hpp"

namespace assay::report {

/// A scheduled step as a Chrome trace: a process for each stage, a thread for each of its streams.
json step_trace(const std::string& title, const predict::StepGraph& graph, const predict::StepSchedule& schedule);

}  // namespace assay::report
