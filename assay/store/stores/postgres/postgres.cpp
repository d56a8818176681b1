#include "assay/store/stores/postgres/postgres.hpp"

#include "assay/core/clock.hpp"
#include "assay/store/records/rows.hpp"
#include "assay/store/sql.hpp"

namespace assay::store::postgres {

PostgresStore::PostgresStore(const Location& location, Access access, const Migrations& steps)
    : connection_(location, access == Access::read), ownership_(prepare_schema(connection_, access, steps)) {}

void PostgresStore::check_ours(const char* doing) const {
  if (ownership_.ours) return;
  fail(ErrorKind::failure, "{}: role {} may not do that (while {}): only the owner of the store may, which is role {}.",
       connection_.shown(), connection_.role(), doing, ownership_.owner);
}

PostgresStore::PostgresStore(const Location& location, Access access, const OnSkipped& on_skipped)
    : PostgresStore(location, access) {
  skipped_ = SkippedRows(on_skipped);
}

std::string PostgresStore::uuid() {
  auto row = connection_.read("SELECT uuid FROM assay.store", "reading the store's id");
  ASSAY_CHECK(row.step());
  return row.get<std::string>(0);
}

void PostgresStore::no_campaign(const std::string& id) const {
  fail(ErrorKind::usage, "{}: there is no campaign {}. `assay show` lists those that are there.", connection_.shown(),
       shown(id));
}

void PostgresStore::put_platform(const std::string& id, const json& platform) {
  connection_.query("SELECT assay.put_platform($1, $2)", "storing a platform", id, json_text(platform));
}

std::optional<json> PostgresStore::platform(const std::string& id) {
  auto row = connection_.read("SELECT json FROM platform WHERE id = $1", "reading a platform", id);
  if (!row.step()) return std::nullopt;
  return read_platform(id, row.get<std::string>(0), skipped_);
}

void PostgresStore::put_artifact(const std::string& kind, const std::string& inputs_hash, const json& content) {
  constexpr const char* kDoing = "storing an artifact";
  check_ours(kDoing);
  // The new key puts it behind older ones.
  connection_.write(
      "INSERT INTO artifact(kind, inputs_hash, created_utc, json) VALUES ($1, $2, $3, $4) ON CONFLICT (kind, "
      "inputs_hash) DO UPDATE SET key = DEFAULT, created_utc = excluded.created_utc, json = excluded.json",
      kDoing, kind, inputs_hash, utc_now(), json_text(content));
}

std::vector<Artifact> PostgresStore::artifacts(const std::string& kind) {
  auto row = connection_.read("SELECT kind, inputs_hash, created_utc, json FROM artifact WHERE kind = $1 ORDER BY key",
                              "reading artifacts", kind);
  return read_artifacts(row, skipped_);
}

void PostgresStore::remove_artifact(const std::string& kind, const std::string& inputs_hash) {
  constexpr const char* kDoing = "removing an artifact";
  check_ours(kDoing);
  connection_.write("DELETE FROM artifact WHERE kind = $1 AND inputs_hash = $2", kDoing, kind, inputs_hash);
}

void PostgresStore::drop(const std::string& campaign) {
  constexpr const char* kDoing = "dropping a campaign";
  check_ours(kDoing);
  Transaction transaction(connection_, kDoing);
  auto row = connection_.once("SELECT key FROM campaign WHERE id = $1 FOR UPDATE", kDoing, campaign);
  if (!row.step()) no_campaign(campaign);
  const auto key = row.get<std::int64_t>(0);
  // Locked, so that nobody takes one meanwhile.
  auto held = connection_.once(
      "SELECT count(*) FROM (SELECT key FROM run WHERE campaign = $1 AND state = 1 AND lease_end_ms > now_ms() "
      "FOR UPDATE) AS held",
      kDoing, key);
  ASSAY_CHECK(held.step());
  check_not_held(held.get<std::int64_t>(0), campaign);
  std::vector<std::int64_t> trials;
  for (const auto& trial : planned_trials(key)) trials.push_back(trial.key);
  for (const char* sql : {"UPDATE receipt SET record = NULL WHERE run IN (SELECT key FROM run WHERE campaign = $1)",
                          "DELETE FROM record WHERE run IN (SELECT key FROM run WHERE campaign = $1)",
                          "DELETE FROM run WHERE campaign = $1", "DELETE FROM campaign_trial WHERE campaign = $1",
                          "DELETE FROM progress WHERE campaign = $1", "DELETE FROM access WHERE campaign = $1",
                          "DELETE FROM campaign WHERE key = $1"}) {
    connection_.once(sql, kDoing, key);
  }
  connection_.once(
      "DELETE FROM trial WHERE key = ANY ($1::bigint[]) AND NOT EXISTS (SELECT FROM campaign_trial WHERE "
      "campaign_trial.trial = trial.key)",
      kDoing, array_of(trials));
  transaction.commit();
}

StoreInfo PostgresStore::info() {
  auto row = connection_.read(sql::kPostgresInfo, "looking at it");
  ASSAY_CHECK(row.step());
  auto info = read_info(row);
  info.location = connection_.shown();
  info.kind = "postgresql";
  info.size_bytes = row.get<std::int64_t>(12);
  return info;
}

void PostgresStore::allow(const std::string& role, Right right, const std::string& campaign) {
  constexpr const char* kDoing = "giving a role its rights";
  check_ours(kDoing);
  connection_.write("SELECT allow($1, $2, $3)", kDoing, role, right == Right::agent ? "agent" : "reader", campaign);
}

void PostgresStore::forbid(const std::string& role) {
  constexpr const char* kDoing = "taking a role's rights";
  check_ours(kDoing);
  connection_.write("SELECT forbid($1)", kDoing, role);
}

}  // namespace assay::store::postgres
