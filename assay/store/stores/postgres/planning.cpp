#include <array>
#include <set>

#include "assay/core/clock.hpp"
#include "assay/store/records/record_row.hpp"
#include "assay/store/stores/postgres/postgres.hpp"

namespace assay::store::postgres {
namespace {

constexpr const char* kPlanning = "planning a campaign";
constexpr std::size_t kMostRows = 5000;  // in one statement

/// Columns of trials, as lists.
class TrialColumns {
 public:
  void add(const Trial& trial, const std::string& id, std::int64_t position) {
    const json whole = without_nulls(to_json(trial));
    const auto per_node = trial.placement.ranks_per_node;
    const std::vector<std::optional<std::string>> texts{
        id,
        trial.workload.network,
        name_of(trial.workload.mode),
        trial.workload.precision,
        trial.worker.name,
        trial.worker.release,
        trial.placement.device,
        settings_text(whole),
        json_text(whole),
        per_node ? std::optional(std::to_string(*per_node)) : std::nullopt};
    for (std::size_t i = 0; i < texts.size(); ++i) texts_[i].push_back(texts[i]);
    batches_.push_back(trial.workload.batch);
    ranks_.push_back(trial.placement.ranks);
    positions_.push_back(position);
  }

  std::size_t size() const { return positions_.size(); }

  void insert(Connection& connection, std::int64_t campaign) const {
    connection.once(
        "INSERT INTO trial(id, network, mode, precision, worker, release, device, settings, json, ranks_per_node, "
        "batch, "
        "ranks) SELECT id, network, mode, precision, worker, release, device, settings, json, ranks_per_node, batch, "
        "ranks FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], "
        "$8::text[], $9::text[], $10::bigint[], $11::bigint[], $12::bigint[]) WITH ORDINALITY AS new(id, network, "
        "mode, "
        "precision, worker, release, device, settings, json, ranks_per_node, batch, ranks, place) ORDER BY place "
        "ON CONFLICT (id) DO NOTHING",
        kPlanning, array_of(texts_[0]), array_of(texts_[1]), array_of(texts_[2]), array_of(texts_[3]),
        array_of(texts_[4]), array_of(texts_[5]), array_of(texts_[6]), array_of(texts_[7]), array_of(texts_[8]),
        array_of(texts_[9]), array_of(batches_), array_of(ranks_));
    connection.once(
        "INSERT INTO campaign_trial(campaign, position, trial) SELECT $1::bigint, new.position, trial.key FROM "
        "unnest($2::bigint[], $3::text[]) AS new(position, id) JOIN trial ON trial.id = new.id",
        kPlanning, campaign, array_of(positions_), array_of(texts_[0]));
  }

 private:
  std::array<std::vector<std::optional<std::string>>, 10> texts_;
  std::vector<std::int64_t> batches_;
  std::vector<std::int64_t> ranks_;
  std::vector<std::int64_t> positions_;
};

/// Columns of runs, as lists.
class RunColumns {
 public:
  void add(const MissingRun& run) {
    trials_.push_back(run.trial);
    indexes_.push_back(run.index);
    orders_.push_back(run.order);
    pairs_.push_back(run.pair);
    sides_.push_back(run.side);
  }

  std::size_t size() const { return trials_.size(); }

  void insert(Connection& connection, std::int64_t campaign) const {
    connection.once(
        "INSERT INTO run(campaign, trial, idx, ord, pair, side) SELECT $1::bigint, new.trial, new.idx, new.ord, "
        "new.pair, "
        "new.side FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[]) AS new(trial, idx, "
        "ord, "
        "pair, side)",
        kPlanning, campaign, array_of(trials_), array_of(indexes_), array_of(orders_), array_of(pairs_),
        array_of(sides_));
  }

 private:
  std::vector<std::int64_t> trials_;
  std::vector<std::int64_t> indexes_;
  std::vector<std::int64_t> orders_;
  std::vector<std::optional<std::string>> pairs_;
  std::vector<std::optional<std::string>> sides_;
};

}  // namespace

Planned PostgresStore::plan(const plan::Campaign& campaign, bool again) {
  ASSAY_CHECK(!campaign.lockstep || campaign.trials.size() >= 2);
  ASSAY_CHECK(campaign.runs_of_trial.empty() || campaign.runs_of_trial.size() == campaign.trials.size());
  const auto family = plan::campaign_id(campaign, 0);
  const auto ids = ids_of(campaign.trials);
  check_ours(kPlanning);
  Transaction transaction(connection_, kPlanning);
  // Plans are made one after the other. Not by an advisory lock, which every role of the database could hold.
  connection_.execute("SELECT version FROM store FOR UPDATE", kPlanning);

  Planned planned;
  std::int64_t key = 0;
  auto newest = connection_.once("SELECT key, id, round FROM campaign WHERE family = $1 ORDER BY round DESC LIMIT 1",
                                 kPlanning, family);
  const bool found = newest.step();
  if (found && !again) {
    key = newest.get<std::int64_t>(0);
    planned.campaign = newest.get<std::string>(1);
    planned.round = newest.get<std::int64_t>(2);
    if (campaign.grows) add_trials(key, campaign.trials, ids);
  } else {
    planned.round = found ? newest.get<std::int64_t>(2) + 1 : 0;
    planned.campaign = planned.round == 0 ? family : plan::campaign_id(campaign, planned.round);
    key = add_campaign(campaign, planned, family);
    add_trials(key, campaign.trials, ids);
  }
  planned.new_runs = add_runs(campaign, ids, key, planned.campaign);
  planned.runs = connection_.integer("SELECT sum(runs)::bigint FROM progress WHERE campaign = $1", kPlanning, key);
  transaction.commit();
  return planned;
}

std::int64_t PostgresStore::add_campaign(const plan::Campaign& campaign, const Planned& planned,
                                         const std::string& family) {
  return connection_.integer(
      "INSERT INTO campaign(id, family, round, name, seed, lockstep, runs, measure, platform, created_utc) "
      "VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $8, $9) RETURNING key",
      kPlanning, planned.campaign, family, planned.round, campaign.name, campaign.seed, campaign.lockstep,
      json_text(without_nulls(to_json(campaign.measure))), campaign.measure.platform, utc_now());
}

void PostgresStore::add_trials(std::int64_t campaign, const std::vector<Trial>& trials,
                               const std::vector<std::string>& ids) {
  std::set<std::string> linked;
  for (const auto& known : planned_trials(campaign)) linked.insert(known.id);
  auto position = static_cast<std::int64_t>(linked.size());
  TrialColumns columns;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (linked.count(ids[i]) != 0) continue;
    columns.add(trials[i], ids[i], position++);
    if (columns.size() < kMostRows) continue;
    columns.insert(connection_, campaign);
    columns = {};
  }
  if (columns.size() > 0) columns.insert(connection_, campaign);
}

std::vector<PlannedTrial> PostgresStore::planned_trials(std::int64_t campaign) {
  auto row = connection_.once(
      "SELECT trial.key, trial.id, (SELECT count(*) FROM run WHERE run.campaign = $1 AND run.trial = trial.key) "
      "FROM campaign_trial JOIN trial ON trial.key = campaign_trial.trial WHERE campaign_trial.campaign = $1 "
      "ORDER BY campaign_trial.position",
      kPlanning, campaign);
  std::vector<PlannedTrial> out;
  while (row.step()) out.push_back({row.get<std::int64_t>(0), row.get<std::string>(1), row.get<std::int64_t>(2)});
  return out;
}

std::int64_t PostgresStore::add_runs(const plan::Campaign& campaign, const std::vector<std::string>& ids,
                                     std::int64_t key, const std::string& id) {
  std::int64_t added = 0;
  RunColumns columns;
  const auto most = visit_missing_runs(campaign, ids, planned_trials(key), id, [&](const MissingRun& run) {
    columns.add(run);
    ++added;
    if (columns.size() < kMostRows) return;
    columns.insert(connection_, key);
    columns = {};
  });
  if (added == 0) return 0;
  if (columns.size() > 0) columns.insert(connection_, key);
  connection_.once("UPDATE campaign SET runs = greatest(runs, $2) WHERE key = $1", kPlanning, key, most);
  connection_.once("UPDATE progress SET runs = runs + $2, ready = ready + $2 WHERE campaign = $1 AND slot = 0",
                   kPlanning, key, added);
  return added;
}

}  // namespace assay::store::postgres
