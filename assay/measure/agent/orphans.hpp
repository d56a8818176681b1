#pragma once

#include <string>
#include <vector>

#include "assay/platform/process.hpp"

namespace assay::measure {

/// Ends what runs of one store have left on this host: processes that were started for a run whose mark begins with
/// `mark` ("STORE-"), and that no agent and no launcher's daemon is above any more. An agent that is killed together
/// with its assay-rank can leave such. Tells which. They are known by kRunVariable in their environment or, where that
/// is gone, by the number of their run (number_of_run).
std::vector<platform::MarkedProcess> end_orphans(const std::string& mark);

/// Ends all that was started for the run with this mark, whoever is above it.
std::vector<platform::MarkedProcess> end_run(const std::string& mark);

/// One of them in words.
std::string orphan_message(const platform::MarkedProcess& orphan);

}  // namespace assay::measure
