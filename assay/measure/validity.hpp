#pragma once

#include <vector>

#include "assay/core/record.hpp"

namespace assay::measure {

/// Whether a run's numbers can be trusted, from what its processes saw. Each reason carries its figures.
/// CPU that the workload's own threads used is never a disturbance.
Validity judge(const std::vector<RankResult>& ranks);

}  // namespace assay::measure
