#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "assay/compare/calibration.hpp"
#include "assay/report/results/result.hpp"
#include "assay/report/results/roofs/roofline.hpp"
#include "assay/report/site/catalogue.hpp"
#include "assay/report/site/folder.hpp"
#include "assay/report/site/frame.hpp"
#include "assay/store/store.hpp"

namespace assay::report::site {

constexpr std::size_t kMostRowsOfAPage = 300;  ///< of a table: pages stay small, lists and the store have the rest

/// What every page is made with.
struct Context {
  store::Store& store;
  const Catalogue& catalogue;
  Folder& folder;
  std::string title;       ///< of the site
  std::string store_name;  ///< for commands
  Roofline roofline;
  std::vector<compare::Calibration> calibrations;
  std::unordered_map<std::string, std::size_t> campaign_index;  ///< by id
};

// Addresses, all derived from ids.
std::string workload_path(const std::string& id);
std::string series_path(const std::string& id);
std::string campaign_path(const std::string& id);
std::string comparison_path(const std::string& campaign);
std::string machine_path(const std::string& platform);

/// Pages of the series of a workload, and of the workload itself; those that were made from the same are kept. Reads
/// the runs of one series at a time.
void write_workload(Context& context, const WorkloadGroup& workload);

/// A page for each campaign, and one for what is compared with it: its own lock-step groups, and the campaign before it
/// that has trials in common.
void write_campaigns(Context& context);

/// A page for each tuning and each prediction that the store keeps.
void write_artifacts(Context& context);

/// A page for each machine that pages of the folder speak of.
void write_machines(Context& context);

/// Lists of workloads and campaigns, what a search looks through, and the page that a reader begins with: made of what
/// the folder says of the others, so they come last.
void write_lists(Context& context);
void write_search(Context& context);
void write_index(Context& context);

// What pages share.

/// "1.2 ms", or -.
LinkedCell median_cell(const Result& result);
/// "1.1 ms to 1.3 ms", or -.
LinkedCell interval_cell(const Result& result);
/// "nightly@3": a name is that of all rounds, and stands for the first.
std::string round_name(const store::CampaignRow& row);
/// A campaign by that name, with a link.
LinkedCell campaign_cell(const Context& context, const std::string& id);
LinkedCell machine_cell(const std::string& platform);
/// "4.1 % slower since 2026-11-02".
std::string change_words(const KnownChange& change);
/// "1 machine", "2 machines".
std::string counted(std::int64_t number, const char* noun);
/// "2026-11-02 10:30", of RFC 3339.
std::string minute_of(const std::string& utc);
/// Says how many more there are than the page shows; nothing where it shows all.
void say_left_out(PageWriter& page, std::size_t shown, std::size_t all, std::string_view where);

}  // namespace assay::report::site
