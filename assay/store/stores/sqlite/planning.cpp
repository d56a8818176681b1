#include <set>

#include "assay/core/clock.hpp"
#include "assay/store/records/record_row.hpp"
#include "assay/store/stores/sqlite/sqlite.hpp"

namespace assay::store::sqlite {
namespace {

constexpr const char* kDoing = "planning a campaign";

}  // namespace

Planned SqliteStore::plan(const plan::Campaign& campaign, bool again) {
  ASSAY_CHECK(!campaign.lockstep || campaign.trials.size() >= 2);
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
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto& trial = trials[i];
    const auto& id = ids[i];
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

std::vector<PlannedTrial> SqliteStore::planned_trials(std::int64_t campaign) {
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
  Statement insert(database_,
                   "INSERT INTO run(key, campaign, trial, idx, ord, pair, side) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                   kDoing);
  const auto first = database_.integer("SELECT next_run FROM store", kDoing);
  std::int64_t added = 0;
  const auto most = visit_missing_runs(campaign, ids, trials, id, [&](const MissingRun& run) {
    insert.bind(first + added, key, run.trial, run.index, run.order, run.pair, run.side).run();
    ++added;
  });
  if (added == 0) return 0;
  Statement(database_, "UPDATE store SET next_run = ?1", kDoing).bind(first + added).run();
  Statement(database_, "UPDATE campaign SET runs = max(runs, ?2) WHERE key = ?1", kDoing).bind(key, most).run();
  Statement(database_, "UPDATE progress SET runs = runs + ?2, ready = ready + ?2 WHERE campaign = ?1", kDoing)
      .bind(key, added)
      .run();
  return added;
}

}  // namespace assay::store::sqlite
