#pragma once

#include <string>
#include <vector>

#include "assay/report/evidence.hpp"
#include "assay/store/store.hpp"

namespace assay::cli {

/// What a store says of these campaigns, and what was tuned, fitted and predicted with it.
report::Evidence gather_evidence(store::Store& store, const std::vector<store::CampaignRow>& campaigns);

}  // namespace assay::cli
