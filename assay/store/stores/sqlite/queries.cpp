#include <utility>

#include "assay/store/records/rows.hpp"
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

}  // namespace

std::vector<CampaignRow> SqliteStore::campaigns() {
  Statement row(database_,
                "SELECT campaign.id, name, round, created_utc, measure, seed, lockstep, progress.runs, ready, leased, "
                "done, failed, set_aside FROM campaign JOIN progress ON progress.campaign = campaign.key "
                "ORDER BY campaign.key",
                "listing campaigns");
  return read_campaigns(row, skipped_);
}

Progress SqliteStore::progress(const std::string& campaign) {
  Statement row(database_, "SELECT runs, ready, leased, done, failed, set_aside FROM progress WHERE campaign = ?1",
                "reading progress");
  ASSAY_CHECK(row.bind(find_campaign(campaign).key).step());
  return read_progress(row, 0);
}

std::vector<HeldRun> SqliteStore::held(const std::string& campaign) {
  Statement row(database_,
                std::string(kHeldColumns) +
                    "CASE WHEN run.lease_clock = ?3 THEN run.lease_end_ms - ?2 ELSE run.lease_ms END FROM run JOIN "
                    "trial ON trial.key = run.trial WHERE run.campaign = ?1 AND "
                    "run.state = 1 ORDER BY run.owner_host, run.owner_pid, run.idx, run.key",
                "listing runs that agents are at");
  row.bind(find_campaign(campaign).key, clock_.now_ms(), clock_.boot_id);
  std::vector<HeldRun> out;
  while (row.step()) out.push_back(read_held(row));
  return out;
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
  return read_trials(row, skipped_);
}

std::vector<RunRow> SqliteStore::runs(const Filter& filter) {
  const auto columns = with_record_columns(kRunColumns) + ", record.key";
  auto row = select_records(database_, columns.c_str(), filter, "listing runs");
  return read_runs(row, skipped_);
}

std::optional<Writer> SqliteStore::read_writer(std::int64_t record) {
  Statement row(database_,
                "SELECT writer.role, writer.host, writer.agent FROM receipt JOIN writer ON writer.key = receipt.writer "
                "WHERE receipt.record = ?1",
                "reading who wrote a record");
  if (!row.bind(record).step()) return std::nullopt;
  return Writer{row.get<std::string>(0), row.get<std::string>(1), row.get<std::string>(2)};
}

void SqliteStore::records(const Filter& filter, const std::function<void(const Record&)>& visit) {
  constexpr const char* kDoing = "reading records";
  // Keys first: no statement is open while the visitor runs, which may therefore use the store as it likes, and a sort
  // never holds samples. A record once stored does not change.
  std::vector<std::int64_t> keys;
  auto chosen = select_records(database_, "SELECT record.key", filter, kDoing);
  while (chosen.step()) keys.push_back(chosen.get<std::int64_t>(0));

  Statement row(database_,
                with_record_columns(kRunColumns) +
                    ", record.json, record.samples FROM record JOIN run ON run.key = record.run "
                    "JOIN trial ON trial.key = run.trial JOIN campaign ON campaign.key = "
                    "run.campaign WHERE record.key = ?1",
                kDoing);
  Statement shared(database_, "SELECT json FROM content WHERE hash = ?1", kDoing);
  ContentCache contents([&](const std::string& hash) {
    if (!shared.bind(hash).step()) fail(ErrorKind::bad_input, "the store has lost the content {}", hash);
    return shared.get<std::string>(0);
  });
  for (const auto key : keys) {
    ASSAY_CHECK(row.bind(key).step());
    const auto read = [&] {
      Record record = head_of(read_run(row));
      record.writer = read_writer(key);
      unfold(
          row.get<std::string>(after_run_columns()), row.bytes(after_run_columns() + 1),
          [&](const std::string& hash) { return contents.get(hash); }, record);
      return record;
    };
    const auto record = skipped_.unless_bad(read, [&] { return record_name(row, key); });
    row.bind(key);  // ends the read
    if (record) visit(*record);
  }
}

}  // namespace assay::store::sqlite
