#include "cli/results.hpp"

#include <iterator>

#include "assay/report/peak.hpp"

namespace assay::cli {

void add_shares(store::Store& store, std::vector<report::Result>& results) {
  const store::Filter gemms{.network = "gemm"};
  report::add_shares(results, report::peaks_of(report::results_of(store.trials(gemms), store.runs(gemms))));
}

report::ReportData results_of_campaigns(store::Store& store, std::vector<store::CampaignRow> campaigns) {
  report::ReportData data;
  for (const auto& campaign : campaigns) {
    const store::Filter filter{.campaign = campaign.id};
    auto results = report::results_of(store, filter);
    std::move(results.begin(), results.end(), std::back_inserter(data.results));
  }
  data.campaigns = std::move(campaigns);
  add_shares(store, data.results);
  return data;
}

}  // namespace assay::cli
