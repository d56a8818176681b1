#pragma once

#include "assay/predict/traces/gpu_trace.hpp"

namespace assay::predict {

/// Reads traces of the ranks of a job: files, and folders with files that end in .json or .json.gz. A trace that does
/// not name its rank gets the lowest number that is free. Throws Error{usage} for a folder without any, and what
/// read_gpu_trace() throws.
std::vector<GpuTrace> read_gpu_traces(const std::vector<std::string>& paths);

}  // namespace assay::predict
