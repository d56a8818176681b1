#pragma once

#include "assay/predict/traces/trace_explanation.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// Where the step of a trace goes: its first cause, a table of ranks, the critical path, and what would change it.
Document trace_document(const predict::TraceExplanation& explanation);

}  // namespace assay::report
