#pragma once

#include <string>
#include <vector>

#include "assay/report/results/evidence.hpp"
#include "assay/store/store.hpp"

namespace assay::report {

/// What a store says of these campaigns, and what was tuned, fitted and predicted with it.
Evidence gather_evidence(store::Store& store, const std::vector<store::CampaignRow>& campaigns);

/// "Intel Xeon …, 8 CPUs, platform 1a2b3c4d", as far as the store tells.
std::string machine_words(store::Store& store, const std::string& id);

}  // namespace assay::report
