#include <map>
#include <utility>

#include "assay/store/stores/sqlite/record_row.hpp"
#include "assay/store/stores/sqlite/sqlite.hpp"

namespace assay::store::sqlite {
namespace {

/// Conditions joined by AND, each with a bound value. The SQL itself is put together from constants only.
class Selection {
 public:
  explicit Selection(std::string sql) : sql_(std::move(sql)) {}

  void where(const char* condition) {
    sql_ += (std::exchange(first_, false) ? " WHERE " : " AND ") + std::string(condition);
  }

  void where(const char* before, const std::string& value) {
    values_.push_back(value);
    where((before + std::string("?") + std::to_string(values_.size())).c_str());
  }

  /// Ids that begin with `digits`: a range, which an index serves. Ids are lower-case hexadecimal, so 'g' ends it.
  void where_trial(const std::string& digits) {
    if (digits.empty()) return;
    where("trial.id >= ", digits);
    where("trial.id < ", digits + "g");
  }

  Statement statement(Database& database, const char* order, const char* doing) const {
    Statement out(database, sql_ + order, doing);
    switch (values_.size()) {
      case 0:
        out.bind();
        break;
      case 1:
        out.bind(values_[0]);
        break;
      case 2:
        out.bind(values_[0], values_[1]);
        break;
      case 3:
        out.bind(values_[0], values_[1], values_[2]);
        break;
      default:
        ASSAY_CHECK(values_.size() == 4);
        out.bind(values_[0], values_[1], values_[2], values_[3]);
    }
    return out;
  }

 private:
  std::string sql_;
  std::vector<std::string> values_;
  bool first_ = true;
};

/// The records that `filter` chooses, ordered by trial as planned, index, attempt. CROSS JOIN keeps the order of the
/// loops, so that indexes give that order and nothing is sorted, unless both fields of the filter are set.
Statement select_records(Database& database, const char* columns, const Filter& filter, const char* doing) {
  const bool by_campaign = !filter.campaign.empty() && filter.trial.empty();
  Selection selection(std::string(columns) +
                      (by_campaign
                           ? " FROM campaign CROSS JOIN campaign_trial ON campaign_trial.campaign = campaign.key "
                             "CROSS JOIN trial ON trial.key = campaign_trial.trial "
                             "CROSS JOIN run ON run.trial = trial.key AND run.campaign = campaign.key "
                             "CROSS JOIN record ON record.run = run.key"
                           : " FROM trial CROSS JOIN run ON run.trial = trial.key "
                             "CROSS JOIN campaign ON campaign.key = run.campaign "
                             "CROSS JOIN campaign_trial ON campaign_trial.campaign = run.campaign AND "
                             "campaign_trial.trial = run.trial "
                             "CROSS JOIN record ON record.run = run.key"));
  if (!filter.campaign.empty()) selection.where("campaign.id = ", filter.campaign);
  selection.where_trial(filter.trial);
  if (!filter.network.empty()) selection.where("trial.network = ", filter.network);
  if (filter.counted_only) selection.where("record.counted = 1");
  return selection.statement(database,
                             filter.campaign.empty() ? " ORDER BY trial.key, run.campaign, run.idx, record.attempt"
                                                     : " ORDER BY campaign_trial.position, run.idx, record.attempt",
                             doing);
}

constexpr const char* kRunColumns =
    "SELECT campaign.id, trial.id, run.idx, record.attempt, record.counted, record.outcome, record.message, "
    "record.trusted, record.platform, record.started_utc, record.duration_ns, record.n, record.steady_from, "
    "record.median_ns, record.p90_ns, record.p99_ns, record.samples_per_second, record.summary_version, run.pair, "
    "run.side, record.digest";

RunRow read_run(const Statement& row) {
  RunRow out;
  out.campaign = row.get<std::string>(0);
  out.trial = row.get<std::string>(1);
  out.index = row.get<std::int64_t>(2);
  out.attempt = row.get<std::int64_t>(3);
  out.counted = row.get<bool>(4);
  from_json_value(json(row.get<std::string>(5)), "outcome", out.outcome);
  out.message = row.get<std::string>(6);
  out.trusted = row.get<bool>(7);
  out.platform = row.get<std::string>(8);
  out.started_utc = row.get<std::string>(9);
  out.duration_ns = row.get<std::int64_t>(10);
  out.summary.n = row.get<std::int64_t>(11);
  out.summary.steady_from = row.get<std::int64_t>(12);
  out.summary.median_ns = row.get<std::optional<std::int64_t>>(13);
  out.summary.p90_ns = row.get<std::optional<std::int64_t>>(14);
  out.summary.p99_ns = row.get<std::optional<std::int64_t>>(15);
  out.summary.samples_per_second = row.get<std::optional<double>>(16);
  out.summary.summary_version = row.get<std::int64_t>(17);
  if (const auto pair = row.get<std::optional<std::string>>(18)) {
    out.pair = Pair{*pair, row.get<std::string>(19) == "b" ? PairSide::b : PairSide::a};
  }
  from_json_value(parse_column(row.get<std::string>(20)), "digest", out.digest);
  out.summary.watts = out.digest.watts;
  out.summary.samples_per_joule = out.digest.samples_per_joule;
  return out;
}

Record head_of(const RunRow& run) {
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

Progress read_progress(const Statement& row, int column) {
  return {row.get<std::int64_t>(column),     row.get<std::int64_t>(column + 1), row.get<std::int64_t>(column + 2),
          row.get<std::int64_t>(column + 3), row.get<std::int64_t>(column + 4), row.get<std::int64_t>(column + 5)};
}

/// Shared JSON by hash. Most records share the same few, so the last ones are kept parsed.
class ContentCache {
 public:
  explicit ContentCache(Database& database)
      : statement_(database, "SELECT json FROM content WHERE hash = ?1", "reading a record") {}

  const json& find(const std::string& hash) {
    const auto known = cache_.find(hash);
    if (known != cache_.end()) return known->second;
    if (!statement_.bind(hash).step()) fail(ErrorKind::failure, "the store has lost the content {}", hash);
    if (cache_.size() >= 64) cache_.clear();
    return cache_[hash] = parse_column(statement_.get<std::string>(0));
  }

 private:
  Statement statement_;
  std::map<std::string, json> cache_;
};

}  // namespace

std::vector<CampaignRow> SqliteStore::campaigns() {
  Statement row(database_,
                "SELECT campaign.id, name, round, created_utc, measure, seed, lockstep, progress.runs, ready, leased, "
                "done, failed, set_aside FROM campaign JOIN progress ON progress.campaign = campaign.key "
                "ORDER BY campaign.key",
                "listing campaigns");
  std::vector<CampaignRow> out;
  while (row.step()) {
    out.push_back({row.get<std::string>(0), row.get<std::string>(1), row.get<std::int64_t>(2), row.get<std::string>(3),
                   from_json<Measure>(parse_column(row.get<std::string>(4)), "measure"), row.get<std::int64_t>(5),
                   row.get<bool>(6), read_progress(row, 7)});
  }
  return out;
}

Progress SqliteStore::progress(const std::string& campaign) {
  Statement row(database_, "SELECT runs, ready, leased, done, failed, set_aside FROM progress WHERE campaign = ?1",
                "reading progress");
  ASSAY_CHECK(row.bind(find_campaign(campaign).key).step());
  return read_progress(row, 0);
}

std::vector<TrialRow> SqliteStore::trials(const Filter& filter) {
  Selection selection(filter.campaign.empty()
                          ? "SELECT trial.id, trial.json FROM trial"
                          : "SELECT trial.id, trial.json FROM campaign CROSS JOIN campaign_trial ON "
                            "campaign_trial.campaign = campaign.key JOIN trial ON trial.key = campaign_trial.trial");
  if (!filter.campaign.empty()) selection.where("campaign.id = ", filter.campaign);
  selection.where_trial(filter.trial);
  if (!filter.network.empty()) selection.where("trial.network = ", filter.network);
  auto row = selection.statement(database_,
                                 filter.campaign.empty() ? " ORDER BY trial.key" : " ORDER BY campaign_trial.position",
                                 "listing trials");
  std::vector<TrialRow> out;
  while (row.step()) {
    out.push_back({row.get<std::string>(0), from_json<Trial>(parse_column(row.get<std::string>(1)), "trial")});
  }
  return out;
}

std::vector<RunRow> SqliteStore::runs(const Filter& filter) {
  auto row = select_records(database_, kRunColumns, filter, "listing runs");
  std::vector<RunRow> out;
  while (row.step()) out.push_back(read_run(row));
  return out;
}

void SqliteStore::records(const Filter& filter, const std::function<void(const Record&)>& visit) {
  constexpr const char* kDoing = "reading records";
  // Keys first: no statement is open while the visitor runs, which may therefore use the store as it likes, and a sort
  // never holds samples. A record once stored does not change.
  std::vector<std::int64_t> keys;
  auto chosen = select_records(database_, "SELECT record.key", filter, kDoing);
  while (chosen.step()) keys.push_back(chosen.get<std::int64_t>(0));

  Statement row(database_,
                std::string(kRunColumns) +
                    ", record.json, record.samples FROM record JOIN run ON run.key = record.run "
                    "JOIN trial ON trial.key = run.trial JOIN campaign ON campaign.key = "
                    "run.campaign WHERE record.key = ?1",
                kDoing);
  ContentCache contents(database_);
  for (const auto key : keys) {
    ASSAY_CHECK(row.bind(key).step());
    Record record = head_of(read_run(row));
    unfold(
        row.get<std::string>(21), row.get<std::string>(22),
        [&](const std::string& hash) { return contents.find(hash); }, record);
    row.bind(key);  // ends the read
    visit(record);
  }
}

}  // namespace assay::store::sqlite
