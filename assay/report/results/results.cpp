#include "assay/report/results/results.hpp"

#include <iterator>

#include "assay/stats/looks.hpp"

namespace assay::report {

Roofline known_roofline(store::Archive& store) {
  auto results = results_of(store, {.network = "gemm"});
  auto triads = results_of(store, {.network = "triad"});
  std::move(triads.begin(), triads.end(), std::back_inserter(results));
  return whole_roofline_of(results);
}

void add_shares(store::Archive& store, std::vector<Result>& results) {
  add_shares(results, known_roofline(store));
}

std::vector<Result> results_of_campaign(const store::CampaignRow& campaign, const std::vector<store::TrialRow>& trials,
                                        const std::vector<store::RunRow>& runs) {
  const auto& stop = campaign.measure.stop;
  return results_of(trials, runs, stop ? stats::look_confidence(stop->most_runs) : 0.95);
}

ReportData results_of_campaigns(store::Store& store, std::vector<store::CampaignRow> campaigns) {
  ReportData data;
  for (const auto& campaign : campaigns) {
    const store::Filter filter{.campaign = campaign.id, .counted_only = false};
    const auto rows = store.runs(filter);
    auto results = results_of_campaign(campaign, store.trials(filter), rows);
    for (const auto& row : rows) {
      if (row.counted) continue;
      for (const auto& reason : row.digest.reasons) {
        if (reason.passing) ++data.set_aside[campaign.id][reason.code];
      }
    }
    std::move(results.begin(), results.end(), std::back_inserter(data.results));
  }
  data.campaigns = std::move(campaigns);
  add_shares(store, data.results);
  return data;
}

}  // namespace assay::report
