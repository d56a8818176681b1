#pragma once

#include <optional>

#include "assay/plan/campaign.hpp"
#include "assay/plan/catalog/catalog.hpp"
#include "assay/store/store.hpp"

namespace assay::report {

/// What must be measured so that results of `campaign` can be given as a share of what this machine can do: gemms at
/// the precisions of its workloads and a triad, by its own workers, where the store has not measured them whole; a null
/// store has none. A campaign of peaks that was stopped halfway comes back as it was. Null where nothing is left to
/// measure, also where runs of it failed.
std::optional<plan::Campaign> missing_peak(store::Store* store, const plan::Campaign& campaign,
                                           const plan::Catalog& catalog);

}  // namespace assay::report
