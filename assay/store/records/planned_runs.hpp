#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/plan/campaign.hpp"

namespace assay::store {

/// A trial as it belongs to a campaign in a store.
struct PlannedTrial {
  std::int64_t key = 0;  ///< the store's own
  std::string id;
  std::int64_t runs = 0;  ///< that it has in the campaign
};

/// A run that a plan asks for and the store does not have.
struct MissingRun {
  std::int64_t trial = 0;  ///< key
  std::int64_t index = 0;
  std::int64_t order = 0;  ///< position inside the block
  std::optional<std::string> pair;
  std::optional<std::string> side;
};

/// Ids of trials, which must be distinct.
std::vector<std::string> ids_of(const std::vector<Trial>& trials);

/// Visits what `campaign` asks for beyond the runs that `trials` have; of a lock-step group, side a before the others.
/// `ids` are those of the campaign's trials; `id` is that of its round. Returns the most runs that a trial is asked to
/// have.
std::int64_t visit_missing_runs(const plan::Campaign& campaign, const std::vector<std::string>& ids,
                                const std::vector<PlannedTrial>& trials, const std::string& id,
                                const std::function<void(const MissingRun&)>& visit);

/// JSON of the settings that a trial sets, for a column; `trial` is its JSON without nulls.
std::string settings_text(const json& trial);

}  // namespace assay::store
