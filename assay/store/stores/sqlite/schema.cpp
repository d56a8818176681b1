#include "assay/store/stores/sqlite/schema.hpp"

#include <chrono>
#include <iterator>
#include <thread>

#include "assay/store/sql.hpp"

namespace assay::store::sqlite {
namespace {

constexpr const char* kDoing = "preparing its tables";

constexpr std::int64_t kOldestRead = 2;  // the versions after it, up to the last of migrations(), have the same tables

struct Marks {
  std::int64_t application = 0;
  std::int64_t version = 0;
  std::int64_t objects = 0;

  bool empty() const { return application == 0 && version == 0 && objects == 0; }
};

Marks read_marks(Database& database) {
  Marks marks;
  // One look at all three: another program may be making the store between two. A savepoint also nests.
  database.execute("SAVEPOINT marks", kDoing);
  // The schema comes first: reading it is what finds out whether this is a database at all.
  marks.objects = database.integer("SELECT count(*) FROM sqlite_master", kDoing);
  marks.application = database.integer("PRAGMA application_id", kDoing);
  marks.version = database.integer("PRAGMA user_version", kDoing);
  database.execute("RELEASE marks", kDoing);
  return marks;
}

/// Refuses what this program must not touch.
void check_marks(const Database& database, const Marks& marks, Access access, std::int64_t newest) {
  if (marks.empty() && access == Access::create) return;
  if (marks.application != kApplicationId) {
    fail(ErrorKind::failure, "{}: this file is not an Assay store and was not changed; choose another --store.",
         database.path());
  }
  if (marks.version > newest) {
    fail(ErrorKind::failure,
         "{}: this store was written by a newer Assay (store version {}; this program knows {}). Update Assay.",
         database.path(), marks.version, newest);
  }
  const bool same_tables = marks.version >= kOldestRead && newest == std::ssize(migrations());
  if (marks.version < newest && access == Access::read && !same_tables) {
    fail(ErrorKind::failure,
         "{}: this store was written by an older Assay (store version {}; this program needs {}) and cannot be brought "
         "up to date while it is only read. Run any command that writes to it, such as `assay run`, once.",
         database.path(), marks.version, newest);
  }
}

void use_write_ahead_log(Database& database) {
  // Two programs that make the same store at once meet here; SQLite then says busy without waiting.
  for (int attempt = 1;; ++attempt) {
    try {
      Statement statement(database, "PRAGMA journal_mode = WAL", kDoing);
      ASSAY_CHECK(statement.step());
      const auto mode = statement.get<std::string>(0);
      if (mode == "wal") return;
      fail(ErrorKind::failure,
           "{}: this file system cannot hold a store (SQLite's write-ahead log is refused, journal mode {}). Put the "
           "store on a local disk.",
           database.path(), mode);
    } catch (const Error&) {
      if (attempt == 200 || (sqlite3_errcode(database.handle()) & 0xff) != SQLITE_BUSY) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

const Migrations& migrations() {
  static const Migrations steps{sql::kSqlite001, sql::kSqlite002, sql::kSqlite003};
  return steps;
}

void prepare_schema(Database& database, Access access, const Migrations& steps) {
  const auto newest = static_cast<std::int64_t>(steps.size());
  auto marks = read_marks(database);
  check_marks(database, marks, access, newest);
  if (access == Access::read) return;
  use_write_ahead_log(database);
  if (marks.version == newest) return;

  Transaction transaction(database, kDoing);
  marks = read_marks(database);  // another program may have been here first
  check_marks(database, marks, access, newest);
  for (auto version = marks.version; version < newest; ++version) {
    database.execute(steps[static_cast<std::size_t>(version)], kDoing);
  }
  // A PRAGMA takes no bound value; both are integers of our own.
  database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, newest).c_str(),
                   kDoing);
  transaction.commit();
}

}  // namespace assay::store::sqlite
