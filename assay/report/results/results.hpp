#pragma once

#include <vector>

#include "assay/report/report.hpp"
#include "assay/report/results/roofs/roofline.hpp"
#include "assay/store/store.hpp"

namespace assay::report {

/// Results of some campaigns, each with its shares of the best gemm and of the roofline of its platform.
ReportData results_of_campaigns(store::Store& store, std::vector<store::CampaignRow> campaigns);

/// Results of the trials and runs of one campaign, with intervals as wide as its way of stopping asks for.
std::vector<Result> results_of_campaign(const store::CampaignRow& campaign, const std::vector<store::TrialRow>& trials,
                                        const std::vector<store::RunRow>& runs);

/// The best gemms and triads that the store knows, where they were measured whole.
Roofline known_roofline(store::Archive& store);

/// Adds FLOP/s, bytes/s and shares to results that were made otherwise.
void add_shares(store::Archive& store, std::vector<Result>& results);

}  // namespace assay::report
