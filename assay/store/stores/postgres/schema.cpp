#include "assay/store/stores/postgres/schema.hpp"

#include "assay/store/sql.hpp"

namespace assay::store::postgres {

namespace {

constexpr const char* kDoing = "preparing its tables";
constexpr std::int64_t kLock = 0x41535359;  // "ASSY"; one program at a time makes or changes the schema

/// Version of the schema; null where there is none.
std::optional<std::int64_t> version_of(Connection& connection) {
  const auto found = connection.integer(
      "SELECT count(*) FROM pg_catalog.pg_class AS t JOIN pg_catalog.pg_namespace AS s ON s.oid = t.relnamespace "
      "WHERE s.nspname = 'assay' AND t.relname = 'store' AND t.relkind = 'r'",
      kDoing);
  if (found == 0) return std::nullopt;
  return connection.integer("SELECT version FROM assay.store", kDoing);
}

/// Refuses what this program must not touch. True where all is as it should be.
bool is_ready(const Connection& connection, std::optional<std::int64_t> version, Access access, std::int64_t newest) {
  if (!version) {
    if (access == Access::create) return false;
    fail(ErrorKind::usage,
         "{}: there is no store in this database. Make it with `assay run`, as the role that shall own "
         "it.",
         connection.shown());
  }
  if (*version > newest) {
    fail(ErrorKind::failure,
         "{}: this store was written by a newer Assay (store version {}; this program knows {}). Update Assay.",
         connection.shown(), *version, newest);
  }
  if (*version < newest && access == Access::read) {
    fail(
        ErrorKind::failure,
        "{}: this store was written by an older Assay (store version {}; this program needs {}) and cannot be brought "
        "up to date while it is only read. Let its owner run any command that writes to it, such as `assay run`, once.",
        connection.shown(), *version, newest);
  }
  return *version == newest;
}

}  // namespace

const Migrations& migrations() {
  static const Migrations steps{sql::kPostgres001, sql::kPostgres002, sql::kPostgres003};
  return steps;
}

void prepare_schema(Connection& connection, Access access, const Migrations& steps) {
  const auto newest = static_cast<std::int64_t>(steps.size());
  if (is_ready(connection, version_of(connection), access, newest)) return;
  Transaction transaction(connection, kDoing);
  connection.once("SELECT pg_advisory_xact_lock($1)", kDoing, kLock);
  const auto version = version_of(connection);  // another program may have been here first
  if (is_ready(connection, version, access, newest)) return;
  if (!version) connection.execute("CREATE SCHEMA IF NOT EXISTS assay", kDoing);
  for (auto step = version.value_or(0); step < newest; ++step) {
    connection.execute(steps[static_cast<std::size_t>(step)], kDoing);
  }
  // Tests of migration make stores of older versions, which these functions do not fit.
  if (newest >= static_cast<std::int64_t>(migrations().size())) connection.execute(sql::kPostgresFunctions, kDoing);
  connection.once("UPDATE store SET version = $1", kDoing, newest);
  connection.once("SELECT grant_all_rights()", kDoing);  // roles get what is new
  transaction.commit();
}

}  // namespace assay::store::postgres
