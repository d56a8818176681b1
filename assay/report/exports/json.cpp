#include "assay/report/exports/result_document.hpp"
#include "assay/report/report.hpp"

namespace assay::report {

json json_report(const ReportData& data) {
  ResultDocument document;
  for (const auto& campaign : data.campaigns) {
    const auto found = data.set_aside.find(campaign.id);
    document.campaigns.push_back({campaign, {}});
    if (found != data.set_aside.end()) document.campaigns.back().set_aside = found->second;
  }
  document.results = data.results;
  return to_json(document);
}

}  // namespace assay::report
