#pragma once

#include <string>
#include <vector>

#include "assay/platform/process.hpp"

namespace assay::measure {

/// Ends what runs of one store have left on this host: processes that were started for a run whose value of
/// kRunVariable begins with `mark`, and that no agent and no launcher's daemon is above any more. An agent that is
/// killed together with its assay-rank can leave such. Tells which.
std::vector<platform::MarkedProcess> end_orphans(const std::string& mark);

/// One of them in words.
std::string orphan_message(const platform::MarkedProcess& orphan);

}  // namespace assay::measure
