#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"

namespace assay::measure {

/// More threads at work than CPUs to run them: what was seen and what to do about it; null where there were enough.
/// Looks at each process on the CPUs it may use, then at all of them on theirs together. A quota counts as so many
/// CPUs. CPU time over wall time must be half a thread short of the threads, too, or they were not in each other's way.
std::optional<std::string> oversubscription(const std::vector<RankResult>& ranks);

}  // namespace assay::measure
