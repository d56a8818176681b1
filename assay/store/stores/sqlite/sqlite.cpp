#include "assay/store/stores/sqlite/sqlite.hpp"

#include <ctime>

#include "assay/core/clock.hpp"
#include "assay/platform/process.hpp"
#include "assay/store/records/rows.hpp"
#include "assay/store/sql.hpp"

namespace assay::store::sqlite {

LeaseClock boot_clock() {
  return {platform::boot_id(), [] {
            timespec now{};
            clock_gettime(CLOCK_BOOTTIME, &now);
            return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
          }};
}

SqliteStore::SqliteStore(const std::filesystem::path& path, Access access, LeaseClock clock, const Migrations& steps)
    : database_(path, access), clock_(std::move(clock)) {
  prepare_schema(database_, access, steps);
}

SqliteStore::SqliteStore(const std::filesystem::path& path, Access access, const OnSkipped& on_skipped)
    : SqliteStore(path, access) {
  skipped_ = SkippedRows(on_skipped);
}

std::string SqliteStore::uuid() {
  Statement statement(database_, "SELECT uuid FROM store", "reading the store's id");
  ASSAY_CHECK(statement.step());
  return statement.get<std::string>(0);
}

void SqliteStore::put_platform(const std::string& id, const json& platform) {
  constexpr const char* kDoing = "storing a platform";
  Transaction transaction(database_, kDoing);
  Statement(database_,
            "INSERT INTO platform(id, json) VALUES (?1, ?2) ON CONFLICT(id) DO UPDATE SET json = excluded.json "
            "WHERE json <> excluded.json",
            kDoing)
      .bind(id, json_text(platform))
      .run();
  transaction.commit();
}

std::optional<json> SqliteStore::platform(const std::string& id) {
  Statement statement(database_, "SELECT json FROM platform WHERE id = ?1", "reading a platform");
  if (!statement.bind(id).step()) return std::nullopt;
  return read_platform(id, statement.get<std::string>(0), skipped_);
}

void SqliteStore::put_artifact(const std::string& kind, const std::string& inputs_hash, const json& content) {
  constexpr const char* kDoing = "storing an artifact";
  Transaction transaction(database_, kDoing);
  // Replaced, not updated: the new key puts it behind older ones.
  Statement(database_, "INSERT OR REPLACE INTO artifact(kind, inputs_hash, created_utc, json) VALUES (?1, ?2, ?3, ?4)",
            kDoing)
      .bind(kind, inputs_hash, utc_now(), json_text(content))
      .run();
  transaction.commit();
}

std::vector<Artifact> SqliteStore::artifacts(const std::string& kind) {
  Statement statement(database_,
                      "SELECT kind, inputs_hash, created_utc, json FROM artifact WHERE kind = ?1 ORDER BY key",
                      "reading artifacts");
  statement.bind(kind);
  return read_artifacts(statement, skipped_);
}

void SqliteStore::remove_artifact(const std::string& kind, const std::string& inputs_hash) {
  constexpr const char* kDoing = "removing an artifact";
  Transaction transaction(database_, kDoing);
  Statement(database_, "DELETE FROM artifact WHERE kind = ?1 AND inputs_hash = ?2", kDoing)
      .bind(kind, inputs_hash)
      .run();
  transaction.commit();
}

void SqliteStore::drop(const std::string& campaign) {
  constexpr const char* kDoing = "dropping a campaign";
  Transaction transaction(database_, kDoing);
  const auto key = find_campaign(campaign).key;
  settle_clocks();
  Statement held(database_, "SELECT count(*) FROM run WHERE campaign = ?1 AND state = 1 AND lease_end_ms > ?2", kDoing);
  ASSAY_CHECK(held.bind(key, clock_.now_ms()).step());
  check_not_held(held.get<std::int64_t>(0), campaign);
  // Which trials it had is known only while its rows are there.
  std::vector<std::int64_t> trials;
  for (const auto& trial : planned_trials(key)) trials.push_back(trial.key);
  for (const char* sql : {"UPDATE receipt SET record = NULL WHERE run IN (SELECT key FROM run WHERE campaign = ?1)",
                          "DELETE FROM record WHERE run IN (SELECT key FROM run WHERE campaign = ?1)",
                          "DELETE FROM run WHERE campaign = ?1", "DELETE FROM campaign_trial WHERE campaign = ?1",
                          "DELETE FROM progress WHERE campaign = ?1", "DELETE FROM campaign WHERE key = ?1"}) {
    Statement(database_, sql, kDoing).bind(key).run();
  }
  Statement unused(database_,
                   "DELETE FROM trial WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM campaign_trial WHERE trial = ?1)",
                   kDoing);
  for (const auto trial : trials) unused.bind(trial).run();
  transaction.commit();
}

StoreInfo SqliteStore::info() {
  Statement row(database_, sql::kSqliteInfo, "looking at it");
  ASSAY_CHECK(row.bind().step());
  auto info = read_info(row);
  info.location = database_.path();
  info.kind = "sqlite";
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::error_code missing;
    const auto size = std::filesystem::file_size(database_.path() + suffix, missing);
    if (!missing) info.size_bytes += static_cast<std::int64_t>(size);
  }
  return info;
}

void SqliteStore::allow(const std::string&, Right, const std::string&) {
  fail(ErrorKind::usage, "{}: a file has no roles; who may read and write it, its own rights say (chmod, chown).",
       database_.path());
}

void SqliteStore::forbid(const std::string& role) {
  allow(role, Right::reader, "");
}

}  // namespace assay::store::sqlite
