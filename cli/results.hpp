#pragma once

#include <vector>

#include "assay/report/report.hpp"
#include "assay/store/store.hpp"

namespace assay::cli {

/// Results of some campaigns, each with its share of the best gemm that the store knows for its platform.
report::ReportData results_of_campaigns(store::Store& store, std::vector<store::CampaignRow> campaigns);

/// Adds FLOP/s and shares to results that were made otherwise.
void add_shares(store::Store& store, std::vector<report::Result>& results);

}  // namespace assay::cli
