#include "assay/store/stores/sqlite/sqlite.hpp"

#include "assay/core/clock.hpp"
#include "assay/store/stores/sqlite/record_row.hpp"

namespace assay::store::sqlite {

SqliteStore::SqliteStore(const std::filesystem::path& path, Access access, const Migrations& steps)
    : database_(path, access) {
  prepare_schema(database_, access, steps);
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
  return parse_column(statement.get<std::string>(0));
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
  std::vector<Artifact> out;
  while (statement.step()) {
    out.push_back({statement.get<std::string>(0), statement.get<std::string>(1), statement.get<std::string>(2),
                   parse_column(statement.get<std::string>(3))});
  }
  return out;
}

}  // namespace assay::store::sqlite
