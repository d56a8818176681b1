#pragma once

#include <vector>

#include "assay/report/peak.hpp"
#include "assay/report/report.hpp"
#include "assay/store/store.hpp"

namespace assay::cli {

/// Results of some campaigns, each with its share of the best gemm that the store knows for its platform.
report::ReportData results_of_campaigns(store::Store& store, std::vector<store::CampaignRow> campaigns);

/// The best gemm of each platform and precision that the store knows.
std::vector<report::Peak> known_peaks(store::Store& store);

/// Adds FLOP/s and shares to results that were made otherwise.
void add_shares(store::Store& store, std::vector<report::Result>& results);

}  // namespace assay::cli
