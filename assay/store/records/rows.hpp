#pragma once

#include <map>
#include <string>
#include <utility>

#include "assay/store/records/record_columns.hpp"
#include "assay/store/records/skipped_rows.hpp"
#include "assay/store/store.hpp"

// How rows of the tables become structs: the same for every store whose columns have the names and the meaning of
// docs/reference/store.md. `Row` is a statement at a row, with get<T>(column).

namespace assay::store {

/// What read_run needs, for with_record_columns().
constexpr const char* kRunColumns = "SELECT campaign.id, trial.id, run.idx, run.pair, run.side, {head}";
constexpr int kRunHead = 5;  ///< the first column of {head}
/// The first column after those.
inline int after_run_columns() {
  return kRunHead + head_column_count();
}

inline Pair pair_of(const std::string& id, const std::string& side) {
  return {id, side == "b" ? PairSide::b : PairSide::a};
}

/// A row of kRunColumns.
template <typename Row>
RunRow read_run(const Row& row) {
  RunRow out;
  out.campaign = row.template get<std::string>(0);
  out.trial = row.template get<std::string>(1);
  out.index = row.template get<std::int64_t>(2);
  if (const auto pair = row.template get<std::optional<std::string>>(3)) {
    out.pair = pair_of(*pair, row.template get<std::string>(4));
  }
  auto head = read_head_columns(row, kRunHead);
  out.attempt = head.attempt;
  out.counted = head.counted != 0;
  from_json_value(json(head.outcome), "outcome", out.outcome);
  out.message = std::move(head.message);
  out.trusted = head.trusted != 0;
  out.platform = std::move(head.platform);
  out.started_utc = std::move(head.started_utc);
  out.duration_ns = head.duration_ns;
  out.summary.n = head.n;
  out.summary.steady_from = head.steady_from;
  out.summary.median_ns = head.median_ns;
  out.summary.p90_ns = head.p90_ns;
  out.summary.p99_ns = head.p99_ns;
  out.summary.samples_per_second = head.samples_per_second;
  out.summary.summary_version = head.summary_version;
  from_json_value(parse_column(head.digest), "digest", out.digest);
  out.summary.watts = out.digest.watts;
  out.summary.samples_per_joule = out.digest.samples_per_joule;
  out.summary.steady_samples = out.digest.steady_samples;
  out.summary.p90_interval = out.digest.p90_interval;
  out.summary.p99_interval = out.digest.p99_interval;
  out.summary.generated = out.digest.generated;
  return out;
}

/// A record for a message, by columns that are whatever else is wrong.
template <typename Row>
std::string record_name(const Row& row, std::int64_t key) {
  return fmt::format("record {} of trial {}, index {}, attempt {}", key, row.template get<std::string>(1).substr(0, 8),
                     row.template get<std::int64_t>(2), row.template get<std::int64_t>(kRunHead));
}

/// The runs in rows of kRunColumns and record.key.
template <typename Rows>
std::vector<RunRow> read_runs(Rows& row, SkippedRows& skipped) {
  std::vector<RunRow> out;
  while (row.step()) {
    auto run =
        skipped.unless_bad([&] { return read_run(row); },
                           [&] { return record_name(row, row.template get<std::int64_t>(after_run_columns())); });
    if (run) out.push_back(std::move(*run));
  }
  return out;
}

/// The artifacts in rows of kind, inputs_hash, created_utc and json.
template <typename Rows>
std::vector<Artifact> read_artifacts(Rows& row, SkippedRows& skipped) {
  std::vector<Artifact> out;
  while (row.step()) {
    const auto kind = row.template get<std::string>(0);
    const auto hash = row.template get<std::string>(1);
    auto content = skipped.unless_bad([&] { return parse_column(row.template get<std::string>(3)); },
                                      [&] { return fmt::format("{} {}", kind, hash); });
    if (content) out.push_back({kind, hash, row.template get<std::string>(2), std::move(*content)});
  }
  return out;
}

/// A platform's JSON; null where that is not JSON.
inline std::optional<json> read_platform(const std::string& id, const std::string& text, SkippedRows& skipped) {
  return skipped.unless_bad([&] { return parse_column(text); }, [&] { return "platform " + id; });
}

/// A row of info.sql.
template <typename Row>
StoreInfo read_info(const Row& row) {
  const auto count = [&](int column) { return row.template get<std::int64_t>(column); };
  StoreInfo info;
  info.uuid = row.template get<std::string>(0);
  info.schema_version = count(1);
  info.campaigns = count(2);
  info.trials = count(3);
  info.runs = {count(4), count(5), count(6), count(7)};
  info.records = count(8);
  info.writers = count(9);
  info.first_utc = row.template get<std::optional<std::string>>(10);
  info.last_utc = row.template get<std::optional<std::string>>(11);
  return info;
}

/// What a record's columns hold; unfold() adds the rest.
inline Record head_of(const RunRow& run) {
  Record record;
  record.campaign = run.campaign;
  record.trial = run.trial;
  record.index = run.index;
  record.attempt = run.attempt;
  record.counted = run.counted;
  record.outcome.kind = run.outcome;
  record.outcome.message = run.message;
  record.validity.trusted = run.trusted;
  record.summary = run.summary;
  record.pair = run.pair;
  record.platform = run.platform;
  record.started_utc = run.started_utc;
  record.duration_ns = run.duration_ns;
  return record;
}

/// Six counts from `column` on.
template <typename Row>
Progress read_progress(const Row& row, int column) {
  const auto count = [&](int of) { return row.template get<std::int64_t>(column + of); };
  return {count(0), count(1), count(2), count(3), count(4), count(5)};
}

/// A row of id, name, round, created_utc, measure, seed, lockstep and the six counts.
template <typename Row>
CampaignRow read_campaign(const Row& row) {
  return {row.template get<std::string>(0),
          row.template get<std::string>(1),
          row.template get<std::int64_t>(2),
          row.template get<std::string>(3),
          from_json<Measure>(parse_column(row.template get<std::string>(4)), "measure"),
          row.template get<std::int64_t>(5),
          row.template get<bool>(6),
          read_progress(row, 7)};
}

/// The campaigns in such rows.
template <typename Rows>
std::vector<CampaignRow> read_campaigns(Rows& row, SkippedRows& skipped) {
  std::vector<CampaignRow> out;
  while (row.step()) {
    auto campaign =
        skipped.unless_bad([&] { return read_campaign(row); },
                           [&] {
                             return fmt::format("campaign {} {}", row.template get<std::string>(0).substr(0, 8),
                                                row.template get<std::string>(1));
                           });
    if (campaign) out.push_back(std::move(*campaign));
  }
  return out;
}

/// The trials in rows of id and json.
template <typename Rows>
std::vector<TrialRow> read_trials(Rows& row, SkippedRows& skipped) {
  std::vector<TrialRow> out;
  while (row.step()) {
    const auto id = row.template get<std::string>(0);
    auto trial =
        skipped.unless_bad([&] { return from_json<Trial>(parse_column(row.template get<std::string>(1)), "trial"); },
                           [&] { return "trial " + id.substr(0, 8); });
    if (trial) out.push_back({id, std::move(*trial)});
  }
  return out;
}

/// A row of run, epoch, attempt, index, the trial's id and JSON, pair and side.
template <typename Row>
LeasedRun read_leased(const Row& row) {
  LeasedRun run;
  run.run = row.template get<std::int64_t>(0);
  run.epoch = row.template get<std::int64_t>(1);
  run.attempt = row.template get<std::int64_t>(2);
  run.index = row.template get<std::int64_t>(3);
  run.trial_id = row.template get<std::string>(4);
  run.trial = from_json<Trial>(parse_column(row.template get<std::string>(5)), "trial");
  if (const auto pair = row.template get<std::optional<std::string>>(6)) {
    run.pair = pair_of(*pair, row.template get<std::string>(7));
  }
  return run;
}

/// The columns behind `SELECT … FROM run JOIN trial`, and a row of these and the milliseconds until the lease ends.
constexpr const char* kHeldColumns = "SELECT trial.id, run.idx, run.attempt, run.owner_host, run.owner_pid, ";
template <typename Row>
HeldRun read_held(const Row& row) {
  return {row.template get<std::string>(0),  row.template get<std::int64_t>(1),
          row.template get<std::int64_t>(2), row.template get<std::string>(3),
          row.template get<std::int64_t>(4), static_cast<double>(row.template get<std::int64_t>(5)) / 1000};
}

/// The last values that `find` gave, by key: most records share the same few contents.
class ContentCache {
 public:
  /// `find` gives the JSON text of a hash.
  explicit ContentCache(std::function<std::string(const std::string& hash)> find) : find_(std::move(find)) {}

  const json& get(const std::string& hash) {
    const auto known = cache_.find(hash);
    if (known != cache_.end()) return known->second;
    if (cache_.size() >= 64) cache_.clear();
    return cache_[hash] = parse_column(find_(hash));
  }

 private:
  std::function<std::string(const std::string& hash)> find_;
  std::map<std::string, json> cache_;
};

/// Throws Error{usage} where agents hold `leases` of a campaign that is to be dropped.
void check_not_held(std::int64_t leases, const std::string& campaign);

/// Whether a campaign asks for another platform than what an agent offers.
bool is_elsewhere(const Measure& measure, const std::optional<Offer>& offer);

/// Whether the runs of a lease are to be measured again: a part of a group proves nothing, so where one is, so are
/// all. A record that is not that of its run is a mistake of the program.
bool checked_again(const Lease& lease, const std::vector<Finished>& finished);

/// The record as a store keeps it: what the store itself decides is set here.
Record as_stored(const Finished& finished, const LeasedRun& run, bool again);

}  // namespace assay::store
