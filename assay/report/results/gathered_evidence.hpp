#pragma once

#include <string>
#include <vector>

#include "assay/report/results/evidence.hpp"
#include "assay/store/store.hpp"

namespace assay::report {

/// What a store says of these campaigns, and what was tuned, fitted and predicted with it.
Evidence gather_evidence(store::Store& store, const std::vector<store::CampaignRow>& campaigns);

}  // namespace assay::report
