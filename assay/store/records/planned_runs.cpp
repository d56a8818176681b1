#include "assay/store/records/planned_runs.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "assay/core/record.hpp"
#include "assay/core/text/hash.hpp"
#include "assay/store/records/record_row.hpp"

namespace assay::store {
namespace {

/// Runs of each trial that a plan asks for, by the trial's id.
std::map<std::string, std::int64_t> wanted_of(const plan::Campaign& campaign, const std::vector<std::string>& ids) {
  std::map<std::string, std::int64_t> wanted;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    wanted[ids[i]] = campaign.runs_of_trial.empty() ? campaign.runs : campaign.runs_of_trial[i];
  }
  return wanted;
}

}  // namespace

std::vector<std::string> ids_of(const std::vector<Trial>& trials) {
  std::vector<std::string> ids;
  ids.reserve(trials.size());
  for (const auto& trial : trials) ids.push_back(trial_id(trial));
  ASSAY_CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == ids.size());
  return ids;
}

std::int64_t visit_missing_runs(const plan::Campaign& campaign, const std::vector<std::string>& ids,
                                const std::vector<PlannedTrial>& trials, const std::string& id,
                                const std::function<void(const MissingRun&)>& visit) {
  std::int64_t most = 0;
  const auto wanted_runs = wanted_of(campaign, ids);
  for (std::size_t position = 0; position < trials.size(); ++position) {
    const auto asked = wanted_runs.find(trials[position].id);
    if (asked == wanted_runs.end()) continue;  // joined a growing campaign before
    const auto wanted = asked->second;
    most = std::max(most, wanted);
    for (auto index = trials[position].runs; index < wanted; ++index) {
      const auto& ordered_by = campaign.lockstep ? trials.front() : trials[position];
      MissingRun run{trials[position].key, index, plan::run_order(campaign.seed, ordered_by.id, index), {}, {}};
      if (campaign.lockstep) {
        run.pair = hash_hex(fmt::format("pair {} {}", id, index));
        run.side = name_of(position == 0 ? PairSide::a : PairSide::b);
      }
      visit(run);
    }
  }
  return most;
}

std::string settings_text(const json& trial) {
  json settings = trial.at("settings");
  if (settings.at("env").empty()) settings.erase("env");
  return json_text(settings);
}

}  // namespace assay::store
