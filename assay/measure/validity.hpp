#pragma once

#include <vector>

#include "assay/core/record.hpp"

namespace assay::measure {

/// Whether a run's numbers can be trusted, from what its processes saw. Each reason carries its figures.
/// CPU that the workload's own threads used is never a disturbance; neither is `partner_cpu_ns`, what the partner of a
/// lock-step pair used meanwhile.
Validity judge(const std::vector<RankResult>& ranks, std::int64_t partner_cpu_ns = 0);

/// CPU that all processes of a run used while measured, as far as it is known.
std::int64_t cpu_used_ns(const std::vector<RankResult>& ranks);

}  // namespace assay::measure
