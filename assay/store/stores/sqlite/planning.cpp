#include <algorithm>
#include <map>
#include <set>

#include "assay/core/clock.hpp"
#include "assay/core/hash.hpp"
#include "assay/store/stores/sqlite/record_row.hpp"
#include "assay/store/stores/sqlite/sqlite.hpp"

namespace assay::store::sqlite {
namespace {

constexpr const char* kDoing = "planning a campaign";

std::string settings_text(const json& trial) {
  json settings = trial.at("settings");
  if (settings.at("env").empty()) settings.erase("env");
  return json_text(settings);
}

std::vector<std::string> ids_of(const std::vector<Trial>& trials) {
  std::vector<std::string> ids;
  ids.reserve(trials.size());
  for (const auto& trial : trials) ids.push_back(trial_id(trial));
  return ids;
}

/// Runs of each trial that a plan asks for, by the trial's id.
std::map<std::string, std::int64_t> wanted_of(const plan::Campaign& campaign, const std::vector<std::string>& ids) {
  std::map<std::string, std::int64_t> wanted;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    wanted[ids[i]] = campaign.runs_of_trial.empty() ? campaign.runs : campaign.runs_of_trial[i];
  }
  return wanted;
}

}  // namespace

Planned SqliteStore::plan(const plan::Campaign& campaign, bool again) {
  ASSAY_CHECK(!campaign.lockstep || campaign.trials.size() == 2);
  ASSAY_CHECK(campaign.runs_of_trial.empty() || campaign.runs_of_trial.size() == campaign.trials.size());
  const auto family = plan::campaign_id(campaign, 0);
  const auto ids = ids_of(campaign.trials);
  Transaction transaction(database_, kDoing);

  Planned planned;
  std::int64_t key = 0;
  Statement newest(database_, "SELECT key, id, round FROM campaign WHERE family = ?1 ORDER BY round DESC LIMIT 1",
                   kDoing);
  const bool found = newest.bind(family).step();
  if (found && !again) {
    key = newest.get<std::int64_t>(0);
    planned.campaign = newest.get<std::string>(1);
    planned.round = newest.get<std::int64_t>(2);
    if (campaign.grows) add_trials(key, campaign.trials, ids);
  } else {
    planned.round = found ? newest.get<std::int64_t>(2) + 1 : 0;
    planned.campaign = planned.round == 0 ? family : plan::campaign_id(campaign, planned.round);
    key = add_campaign(campaign, planned.campaign, family, planned.round);
    add_trials(key, campaign.trials, ids);
  }
  planned.new_runs = add_runs(campaign, ids, key, planned.campaign);
  planned.runs = count_runs(key);
  transaction.commit();
  return planned;
}

std::int64_t SqliteStore::add_campaign(const plan::Campaign& campaign, const std::string& id, const std::string& family,
                                       std::int64_t round) {
  Statement(database_,
            "INSERT INTO campaign(id, family, round, name, seed, lockstep, runs, measure, created_utc) "
            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7, ?8)",
            kDoing)
      .bind(id, family, round, as_utf8(campaign.name), campaign.seed, campaign.lockstep,
            json_text(without_nulls(to_json(campaign.measure))), utc_now())
      .run();
  return sqlite3_last_insert_rowid(database_.handle());
}

void SqliteStore::add_trials(std::int64_t campaign, const std::vector<Trial>& trials,
                             const std::vector<std::string>& ids) {
  Statement insert(database_,
                   "INSERT INTO trial(id, network, mode, batch, precision, worker, release, device, ranks, settings, "
                   "json) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT(id) DO NOTHING",
                   kDoing);
  Statement link(database_,
                 "INSERT INTO campaign_trial(campaign, position, trial) "
                 "VALUES (?1, ?2, (SELECT key FROM trial WHERE id = ?3))",
                 kDoing);
  std::set<std::string> linked;
  for (const auto& known : planned_trials(campaign)) linked.insert(known.id);
  auto position = static_cast<std::int64_t>(linked.size());
  std::set<std::string> distinct;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto& trial = trials[i];
    const auto& id = ids[i];
    ASSAY_CHECK(distinct.insert(id).second);
    if (linked.count(id) != 0) continue;
    const json whole = without_nulls(to_json(trial));
    insert
        .bind(id, as_utf8(trial.workload.network), name_of(trial.workload.mode), trial.workload.batch,
              as_utf8(trial.workload.precision), as_utf8(trial.worker.name), as_utf8(trial.worker.release),
              as_utf8(trial.placement.device), trial.placement.ranks, settings_text(whole), json_text(whole))
        .run();
    link.bind(campaign, position++, id).run();
  }
}

std::vector<SqliteStore::PlannedTrial> SqliteStore::planned_trials(std::int64_t campaign) {
  Statement statement(database_,
                      "SELECT trial.key, trial.id, (SELECT count(*) FROM run WHERE run.campaign = ?1 AND run.trial = "
                      "trial.key) FROM campaign_trial JOIN trial ON trial.key = campaign_trial.trial "
                      "WHERE campaign_trial.campaign = ?1 ORDER BY position",
                      kDoing);
  statement.bind(campaign);
  std::vector<PlannedTrial> out;
  while (statement.step()) {
    out.push_back({statement.get<std::int64_t>(0), statement.get<std::string>(1), statement.get<std::int64_t>(2)});
  }
  return out;
}

std::int64_t SqliteStore::count_runs(std::int64_t campaign) {
  Statement statement(database_, "SELECT runs FROM progress WHERE campaign = ?1", kDoing);
  return statement.bind(campaign).step() ? statement.get<std::int64_t>(0) : 0;
}

std::int64_t SqliteStore::add_runs(const plan::Campaign& campaign, const std::vector<std::string>& ids,
                                   std::int64_t key, const std::string& id) {
  const auto trials = planned_trials(key);
  Statement insert(database_, "INSERT INTO run(campaign, trial, idx, ord, pair, side) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                   kDoing);
  std::int64_t added = 0;
  std::int64_t most = 0;
  const auto wanted_runs = wanted_of(campaign, ids);
  for (std::size_t position = 0; position < trials.size(); ++position) {
    const auto asked = wanted_runs.find(trials[position].id);
    if (asked == wanted_runs.end()) continue;  // joined a growing campaign before
    const auto wanted = asked->second;
    most = std::max(most, wanted);
    for (auto index = trials[position].runs; index < wanted; ++index) {
      std::optional<std::string> pair;
      std::optional<std::string> side;
      if (campaign.lockstep) {
        pair = hash_hex(fmt::format("pair {} {}", id, index));
        side = name_of(position == 0 ? PairSide::a : PairSide::b);
      }
      const auto& ordered_by = campaign.lockstep ? trials.front() : trials[position];
      insert.bind(key, trials[position].key, index, plan::run_order(campaign.seed, ordered_by.id, index), pair, side)
          .run();
      ++added;
    }
  }
  if (added == 0) return 0;
  Statement(database_, "UPDATE campaign SET runs = max(runs, ?2) WHERE key = ?1", kDoing).bind(key, most).run();
  Statement(database_, "UPDATE progress SET runs = runs + ?2, ready = ready + ?2 WHERE campaign = ?1", kDoing)
      .bind(key, added)
      .run();
  return added;
}

}  // namespace assay::store::sqlite
