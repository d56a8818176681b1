#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "assay/report/document.hpp"
#include "assay/report/results/result.hpp"
#include "assay/store/store.hpp"

namespace assay::report {

/// Everything a report shows; it never opens a store itself.
struct ReportData {
  std::vector<store::CampaignRow> campaigns;
  std::vector<Result> results;
  /// Of each campaign: reasons for which runs were set aside and measured again, with their number.
  std::map<std::string, std::map<std::string, std::int64_t>> set_aside;
};

/// Campaigns, a table of their results with a small curve of each trial's runs in the order of time, and what stood in
/// the way.
Document results_document(const ReportData& data);

/// Every run of one trial, and what its results (one for each platform) have in common.
Document trial_document(const store::TrialRow& trial, const std::vector<store::RunRow>& rows,
                        const std::vector<Result>& results);

/// A heat map over inter_op or instances and intra_op for all results that differ in nothing else, where both vary.
Document settings_maps(const std::vector<Result>& results);

/// The published result document, docs/formats/result.schema.json.
json json_report(const ReportData& data);

/// What is set, as the store's view `result` writes it: canonical JSON.
std::string settings_text(const Settings& settings);

/// One line per run with the trial's fields beside its figures, RFC 4180.
std::string csv_header();
std::string csv_row(const Record& record, const Trial& trial);

}  // namespace assay::report
