#pragma once

#include <vector>

#include "assay/core/record.hpp"
#include "assay/core/trial.hpp"

namespace assay::measure {

/// Figures of a run from the samples of all its processes, warm-up left out.
/// Throughput of several instances counts only the time in which all of them run.
Summary summarise(const std::vector<RankResult>& ranks, const Trial& trial);

}  // namespace assay::measure
