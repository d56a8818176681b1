#include "assay/store/stores/postgres/schema.hpp"

#include <iterator>

#include "assay/store/sql.hpp"

namespace assay::store::postgres {

namespace {

constexpr const char* kDoing = "preparing its tables";
constexpr std::int64_t kOldestRead = 4;  // the versions after it, up to the last of migrations(), have the same tables
constexpr std::int64_t kLock = 0x41535359;  // "ASSY"; one program at a time makes or changes the schema

/// The schema `assay` as it is found.
struct Found {
  std::string owner;
  bool has_store = false;
  bool ours = false;  ///< its owner is the role that is connected, or one that it is a member of
  std::string role;   ///< that is connected
  bool superuser = false;
  std::optional<std::string> foreign;  ///< what others could use to run code of theirs
};

std::optional<Found> find_schema(Connection& connection) {
  auto row = connection.read(sql::kPostgresOwnership, kDoing);
  if (!row.step()) return std::nullopt;
  return Found{row.get<std::string>(0), row.get<bool>(1), row.get<bool>(2),
               row.get<std::string>(3), row.get<bool>(4), row.get<std::optional<std::string>>(5)};
}

/// Refuses a schema in which others can run code with the rights of whoever uses it.
void check_trusted(const Connection& connection, const Found& found, Access access) {
  if (found.foreign) {
    fail(ErrorKind::failure,
         "{}: the schema assay of role {} is not safe to use: {}. Take that away, or drop the schema if it is not a "
         "store of yours.",
         connection.shown(), found.owner, *found.foreign);
  }
  if (!found.has_store && access == Access::create && found.owner != found.role) {
    fail(ErrorKind::failure,
         "{}: the schema assay belongs to role {}, who could change whatever role {} puts there. Drop it (DROP SCHEMA "
         "assay), or make the store as {}.",
         connection.shown(), found.owner, found.role, found.owner);
  }
  if (!found.has_store || found.ours) return;
  if (found.superuser) {
    fail(ErrorKind::failure,
         "{}: this store belongs to role {}, whose code would run with the rights of the superuser {}. Connect as {}, "
         "or "
         "as a role with the right of an agent or a reader.",
         connection.shown(), found.owner, found.role, found.owner);
  }
  if (access == Access::create) {
    fail(ErrorKind::failure,
         "{}: role {} may not plan here: this store belongs to role {}. Connect as {} or as a member of it, or let it "
         "plan and use `assay agent`.",
         connection.shown(), found.role, found.owner, found.owner);
  }
}

/// Version of the store; null where there is none.
std::optional<std::int64_t> version_of(Connection& connection, const std::optional<Found>& found) {
  if (!found || !found->has_store) return std::nullopt;
  return Connection::integer_of(connection.read("SELECT version FROM assay.store", kDoing));
}

/// Refuses what this program must not touch. True where all is as it should be.
bool is_ready(const Connection& connection, const std::optional<Found>& found, std::optional<std::int64_t> version,
              Access access, std::int64_t newest) {
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
  if (access == Access::read && *version >= kOldestRead && newest == std::ssize(migrations())) return true;
  if (*version < newest && (access == Access::read || !found->ours)) {
    fail(ErrorKind::failure,
         "{}: this store was written by an older Assay (store version {}; this program needs {}) and cannot be brought "
         "up to date {}. Let its owner, role {}, run any command that writes to it, such as `assay run`, once.",
         connection.shown(), *version, newest,
         access == Access::read ? "while it is only read" : "by another role than its owner's", found->owner);
  }
  return *version == newest;
}

}  // namespace

const Migrations& migrations() {
  static const Migrations steps{sql::kPostgres001, sql::kPostgres002, sql::kPostgres003, sql::kPostgres004,
                                sql::kPostgres005};
  return steps;
}

Ownership prepare_schema(Connection& connection, Access access, const Migrations& steps) {
  const auto newest = static_cast<std::int64_t>(steps.size());
  const auto look = [&] {
    auto found = find_schema(connection);
    if (found) check_trusted(connection, *found, access);
    return found;
  };
  auto found = look();
  if (is_ready(connection, found, version_of(connection, found), access, newest)) return {found->owner, found->ours};
  Transaction transaction(connection, kDoing);
  connection.once("SELECT pg_advisory_xact_lock($1)", kDoing, kLock);
  found = look();  // another program may have been here first
  const auto version = version_of(connection, found);
  if (is_ready(connection, found, version, access, newest)) return {found->owner, found->ours};
  if (!found) connection.execute("CREATE SCHEMA assay", kDoing);
  // What is new belongs to the owner, whichever of its members brings it.
  if (found && found->ours) connection.once("SELECT set_config('role', $1, true)", kDoing, found->owner);
  for (auto step = version.value_or(0); step < newest; ++step) {
    connection.execute(steps[static_cast<std::size_t>(step)], kDoing);
  }
  // Tests of migration make stores of older versions, which these functions do not fit.
  if (newest >= static_cast<std::int64_t>(migrations().size())) connection.execute(sql::kPostgresFunctions, kDoing);
  connection.once("UPDATE store SET version = $1", kDoing, newest);
  connection.once("SELECT grant_all_rights()", kDoing);  // roles get what is new
  transaction.commit();
  return {found ? found->owner : connection.role(), true};
}

}  // namespace assay::store::postgres
