#include <algorithm>

#include "assay/store/records/rows.hpp"
#include "assay/store/stores/postgres/postgres.hpp"

namespace assay::store::postgres {
namespace {

constexpr std::size_t kRecordsAtOnce = 48;  // of a few kB each: fewer round trips, little memory

constexpr const char* kRecordTables =
    " FROM record JOIN run ON run.key = record.run JOIN trial ON trial.key = run.trial "
    "JOIN campaign ON campaign.key = run.campaign "
    "JOIN campaign_trial ON campaign_trial.campaign = run.campaign AND campaign_trial.trial = run.trial";

/// Chooses by what is set: $1 campaign, $2 and $3 the range of trials that begin with the same digits, $4 network. Ids
/// are lower-case hexadecimal, so 'g' ends the range. A value is bound in any case, so that the SQL is of constants
/// only.
std::string chosen(const Filter& filter) {
  std::string out =
      " WHERE $1::text IS NOT NULL AND $2::text IS NOT NULL AND $3::text IS NOT NULL AND $4::text IS NOT NULL";
  if (!filter.campaign.empty()) out += " AND campaign.id = $1";
  if (!filter.trial.empty()) out += " AND trial.id >= $2 AND trial.id < $3";
  if (!filter.network.empty()) out += " AND trial.network = $4";
  return out;
}

Result select_by(Connection& connection, const std::string& sql, const Filter& filter, const char* doing) {
  return connection.read(sql, doing, filter.campaign, filter.trial, filter.trial + "g", filter.network);
}

Result select_records(Connection& connection, const char* columns, const Filter& filter, const char* doing) {
  const char* order = filter.campaign.empty() ? " ORDER BY trial.key, run.campaign, run.idx, record.attempt"
                                              : " ORDER BY campaign_trial.position, run.idx, record.attempt";
  return select_by(connection,
                   std::string(columns) + kRecordTables + chosen(filter) +
                       (filter.counted_only ? " AND record.counted = 1" : "") + order,
                   filter, doing);
}

}  // namespace

std::vector<CampaignRow> PostgresStore::campaigns() {
  auto row = connection_.read(
      "SELECT campaign.id, name, round, created_utc, measure, seed, lockstep, counts.runs, ready, leased, done, "
      "failed, "
      "set_aside FROM campaign JOIN (SELECT campaign AS key, sum(runs)::bigint AS runs, sum(ready)::bigint AS ready, "
      "sum(leased)::bigint AS leased, sum(done)::bigint AS done, sum(failed)::bigint AS failed, "
      "sum(set_aside)::bigint AS set_aside FROM progress GROUP BY campaign) AS counts ON counts.key = campaign.key "
      "ORDER BY campaign.key",
      "listing campaigns");
  return read_campaigns(row, skipped_);
}

Progress PostgresStore::progress(const std::string& campaign) {
  auto row = connection_.read(
      "SELECT sum(progress.runs)::bigint, sum(ready)::bigint, sum(leased)::bigint, sum(done)::bigint, "
      "sum(failed)::bigint, sum(set_aside)::bigint FROM progress JOIN campaign ON campaign.key = progress.campaign "
      "WHERE campaign.id = $1 GROUP BY campaign.key",
      "reading progress", campaign);
  if (!row.step()) no_campaign(campaign);
  return read_progress(row, 0);
}

std::vector<HeldRun> PostgresStore::held(const std::string& campaign) {
  auto row = connection_.read(
      std::string(kHeldColumns) +
          "run.lease_end_ms - (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM run JOIN trial ON trial.key "
          "= "
          "run.trial JOIN campaign ON campaign.key = run.campaign WHERE campaign.id = $1 AND run.state = 1 "
          "ORDER BY run.owner_host, run.owner_pid, run.idx, run.key",
      "listing runs that agents are at", campaign);
  std::vector<HeldRun> out;
  while (row.step()) out.push_back(read_held(row));
  return out;
}

std::vector<TrialRow> PostgresStore::trials(const Filter& filter) {
  const bool all = filter.campaign.empty();
  auto row =
      select_by(connection_,
                std::string("SELECT trial.id, trial.json FROM trial") +
                    (all ? ""
                         : " JOIN campaign_trial ON campaign_trial.trial = trial.key JOIN campaign ON campaign.key = "
                           "campaign_trial.campaign") +
                    chosen(filter) + (all ? " ORDER BY trial.key" : " ORDER BY campaign_trial.position"),
                filter, "listing trials");
  return read_trials(row, skipped_);
}

std::vector<RunRow> PostgresStore::runs(const Filter& filter) {
  const auto columns = with_record_columns(kRunColumns) + ", record.key";
  auto row = select_records(connection_, columns.c_str(), filter, "listing runs");
  return read_runs(row, skipped_);
}

std::string PostgresStore::content(const std::string& hash) {
  auto row = connection_.read("SELECT json FROM content WHERE hash = $1", "reading a record", hash);
  if (!row.step()) fail(ErrorKind::bad_input, "{}: the store has lost the content {}", connection_.shown(), hash);
  return row.get<std::string>(0);
}

void PostgresStore::records(const Filter& filter, const std::function<void(const Record&)>& visit) {
  constexpr const char* kDoing = "reading records";
  std::vector<std::int64_t> keys;
  auto chosen_keys = select_records(connection_, "SELECT record.key", filter, kDoing);
  while (chosen_keys.step()) keys.push_back(chosen_keys.get<std::int64_t>(0));

  const int after = after_run_columns();
  ContentCache contents([&](const std::string& hash) { return content(hash); });
  for (std::size_t begin = 0; begin < keys.size(); begin += kRecordsAtOnce) {
    const auto end = std::min(begin + kRecordsAtOnce, keys.size());
    const std::vector<std::int64_t> some(keys.begin() + static_cast<std::ptrdiff_t>(begin),
                                         keys.begin() + static_cast<std::ptrdiff_t>(end));
    auto row = connection_.read(
        with_record_columns(kRunColumns) +
            ", record.json, record.samples, writer.role, writer.host, writer.agent, record.key" + kRecordTables +
            " JOIN unnest($1::bigint[]) WITH ORDINALITY AS wanted(key, place) ON wanted.key = "
            "record.key LEFT JOIN receipt ON receipt.record = record.key LEFT JOIN writer ON "
            "writer.key = receipt.writer ORDER BY wanted.place",
        kDoing, array_of(some));
    while (row.step()) {
      const auto read = [&] {
        Record record = head_of(read_run(row));
        if (const auto role = row.get<std::optional<std::string>>(after + 2)) {
          record.writer = Writer{*role, row.get<std::string>(after + 3), row.get<std::string>(after + 4)};
        }
        unfold(
            row.get<std::string>(after), row.bytes(after + 1),
            [&](const std::string& hash) { return contents.get(hash); }, record);
        return record;
      };
      const auto record = skipped_.unless_bad(read, [&] { return record_name(row, row.get<std::int64_t>(after + 5)); });
      if (record) visit(*record);
    }
  }
}

}  // namespace assay::store::postgres
