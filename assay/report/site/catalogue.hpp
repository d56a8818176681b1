#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "assay/store/store.hpp"

namespace assay::report::site {

/// Trials that differ in nothing but the release of their worker, or in what a program of the user's own holds: what a
/// history is about.
struct ReleaseSeries {
  std::string id;                   ///< hexadecimal digits, the same in every store
  std::string title;                ///< for a person, without a release
  std::vector<std::size_t> trials;  ///< indexes of Catalogue::trials
  std::string made_from;            ///< changes when a record of it may have come, gone or changed
};

/// Series of one workload at any batch.
struct WorkloadGroup {
  std::string id;
  std::string title;
  std::vector<ReleaseSeries> series;
  std::string made_from;
};

struct ListedCampaign {
  store::CampaignRow row;
  std::vector<std::size_t> trials;     ///< indexes of Catalogue::trials
  std::optional<std::size_t> earlier;  ///< the newest campaign before it that has a trial in common; its index
  std::string made_from;
};

/// What a store holds, without a single run: what there will be pages about.
struct Catalogue {
  std::vector<store::TrialRow> trials;                     ///< in the order planned
  std::unordered_map<std::string, std::string> series_of;  ///< by the id of a trial
  std::vector<WorkloadGroup> workloads;
  std::vector<ListedCampaign> campaigns;  ///< oldest first
};

/// `common` is what every page is made from besides: another one is another identity for each page.
Catalogue catalogue_of(store::Store& store, const std::string& common);

/// A name for a page about something with this id: the id itself where it is hexadecimal, otherwise a hash of it. So an
/// address is known from the id, and text of a store cannot lead out of the folder.
std::string address_of(const std::string& id);

}  // namespace assay::report::site
