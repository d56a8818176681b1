#include "cli/results.hpp"

#include <iterator>

#include "assay/stats/looks.hpp"

namespace assay::cli {

std::vector<report::Peak> known_peaks(store::Store& store) {
  return report::peaks_of(report::results_of(store, {.network = "gemm"}));
}

void add_shares(store::Store& store, std::vector<report::Result>& results) {
  report::add_shares(results, known_peaks(store));
}

report::ReportData results_of_campaigns(store::Store& store, std::vector<store::CampaignRow> campaigns) {
  report::ReportData data;
  for (const auto& campaign : campaigns) {
    const store::Filter filter{.campaign = campaign.id, .counted_only = false};
    const auto rows = store.runs(filter);
    const auto& stop = campaign.measure.stop;
    auto results =
        report::results_of(store.trials(filter), rows, stop ? stats::look_confidence(stop->most_runs) : 0.95);
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

}  // namespace assay::cli
