#include "assay/store/backup.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "assay/core/clock.hpp"
#include "assay/store/location.hpp"
#include "assay/store/stores/sqlite/schema.hpp"

namespace assay::store {
namespace sqlite {
namespace {

namespace fs = std::filesystem;

/// Logs beside a file in use. One beside a file that it does not belong to would be played into it.
constexpr std::array kLogs{"-wal", "-journal"};
/// All that SQLite keeps beside a file.
constexpr std::array kBeside{"-wal", "-journal", "-shm"};

fs::path beside(const fs::path& place, const char* suffix) {
  return place.string() + suffix;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

/// Whether a log is there that holds something: those who only read leave an empty one.
bool has_log(const fs::path& place) {
  return std::any_of(kLogs.begin(), kLogs.end(), [&](const char* suffix) {
    std::error_code missing;
    const auto size = fs::file_size(beside(place, suffix), missing);
    return !missing && size > 0;
  });
}

/// Makes names that were given or taken in the folder of `path` durable.
void sync_folder(const fs::path& path) {
  const auto folder = fs::absolute(path).parent_path();
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) file_failed(errno, "open the folder", folder.string());
  const int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  if (error != 0) file_failed(error, "make durable what is in", folder.string());
}

/// Never takes the place of another file.
void rename_to_new(const fs::path& from, const fs::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return;
  // Some network file systems know no such flag.
  const bool unknown = errno == EINVAL || errno == ENOSYS;
  if (unknown && link(from.c_str(), to.c_str()) == 0 && unlink(from.c_str()) == 0) return;
  file_failed(errno, "give its name to", to.string());
}

/// A file that gets its name once it is complete; removed where that never happens.
class NewFile {
 public:
  NewFile(const fs::path& place, mode_t mode)
      : place_(place), partial_(fmt::format("{}.partial-{}", place.string(), getpid())) {
    unlink(partial_.c_str());  // of a process with our number that was killed
    fd_ = open(partial_.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
    if (fd_ < 0) file_failed(errno, "make", partial_.string());
    fchmod(fd_, mode);  // where that is refused, it stays its owner's alone
  }
  ~NewFile() {
    close(fd_);
    if (!published_) unlink(partial_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const fs::path& partial() const { return partial_; }

  void sync() const {
    if (fsync(fd_) != 0) file_failed(errno, "make durable", partial_.string());
  }

  void publish() {
    rename_to_new(partial_, place_);
    published_ = true;
    sync_folder(place_);
  }

 private:
  fs::path place_;
  fs::path partial_;
  int fd_ = -1;
  bool published_ = false;
};

void check_is_store(Database& database) {
  if (database.integer("PRAGMA application_id", "looking at it") == kApplicationId) return;
  fail(ErrorKind::failure, "{}: this file is not an Assay store.", database.path());
}

/// All pages in one step: one moment of the store. Writers go on meanwhile, into its log.
void copy_pages(Database& from, Database& to) {
  constexpr const char* kCopying = "copying the store";
  sqlite3_backup* backup = sqlite3_backup_init(to.handle(), "main", from.handle(), "main");
  if (backup == nullptr) to.raise(sqlite3_extended_errcode(to.handle()), kCopying);
  const int code = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (code == SQLITE_DONE) return;
  // Which of the two it was, the connections know.
  const bool of_target = sqlite3_errcode(to.handle()) != SQLITE_OK;
  (of_target ? to : from).raise(code == SQLITE_OK ? SQLITE_BUSY : code, kCopying);
}

/// Reads a copy back, whole.
Copied checked_copy(const fs::path& file) {
  constexpr const char* kReading = "reading the copy back";
  auto copy = Database::only_file(file);
  check_is_store(copy);
  Statement check(copy, "PRAGMA integrity_check(1)", kReading);
  ASSAY_CHECK(check.step());
  if (const auto found = check.get<std::string>(0); found != "ok") {
    fail(ErrorKind::failure, "{}: the copy is damaged ({}). If the store itself is, go back to an earlier backup.",
         file.string(), found);
  }
  Copied copied;
  copied.records = copy.integer("SELECT count(*) FROM record", kReading);
  copied.bytes = static_cast<std::int64_t>(fs::file_size(file));
  if (copy.integer("PRAGMA user_version", kReading) >= 2) {
    Statement uuid(copy, "SELECT uuid FROM store", kReading);
    if (uuid.step()) copied.uuid = uuid.get<std::string>(0);
  }
  return copied;
}

Copied copy_store(Database source, NewFile& to) {
  check_is_store(source);
  {
    Database target(to.partial(), Access::write);
    copy_pages(source, target);
  }
  to.sync();
  return checked_copy(to.partial());
}

/// A backup, of which reading leaves nothing behind; or a store that somebody may have open.
Database opened_backup(const fs::path& file) {
  std::error_code ignored;
  const bool alone = fs::is_regular_file(file, ignored) && !has_log(file);
  return alone ? Database::only_file(file) : Database(file, Access::read);
}

mode_t rights_of(const fs::path& file) {
  struct stat status {};
  return stat(file.c_str(), &status) == 0 ? status.st_mode & 0777 : 0600;
}

/// The store at `place`, in one file without a log, from which everybody else is kept out. Null where it cannot be read
/// as a store: that may be why another is to take its place.
std::optional<Database> taken_alone(const fs::path& place) {
  constexpr const char* kTaking = "taking its place";
  try {
    Database database(place, Access::write);
    database.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE", kTaking);
    return database;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::failure || error.kind() == ErrorKind::usage) return std::nullopt;
    throw;
  }
}

/// Renames the store at `place` and all that is beside it.
void put_aside(const fs::path& place, const fs::path& aside) {
  std::optional<Database> held;
  if (is_there(place)) held = taken_alone(place);
  for (const char* suffix : kBeside) {
    if (held) break;  // all is in the file; what is beside it now is our own lock's
    if (is_there(beside(place, suffix))) rename_to_new(beside(place, suffix), beside(aside, suffix));
  }
  if (is_there(place)) rename_to_new(place, aside);
  sync_folder(place);
}

/// Removes what readers of a store that is gone have left.
void remove_beside(const fs::path& place) {
  for (const char* suffix : kBeside) unlink(beside(place, suffix).c_str());
}

}  // namespace
}  // namespace sqlite

namespace {

std::filesystem::path file_of(const std::string& location, const char* programs) {
  const auto where = locate(location);
  if (where.is_file) return where.place;
  fail(ErrorKind::usage, "{}: this command is for a store in a file. For a database use PostgreSQL's own {}.",
       where.shown, programs);
}

}  // namespace

Copied back_up(const std::string& location, const std::filesystem::path& file) {
  const auto place = file_of(location, "pg_dump, or pg_basebackup");
  if (sqlite::is_there(file)) {
    fail(ErrorKind::usage, "{}: there is a file already. Name a new one: a backup replaces nothing.", file.string());
  }
  sqlite::NewFile copy(file, sqlite::rights_of(place));
  auto copied = sqlite::copy_store(sqlite::Database(place, Access::read), copy);
  copy.publish();
  return copied;
}

Restored restore(const std::filesystem::path& file, const std::string& location, bool replace) {
  const auto place = file_of(location, "pg_restore, or psql");
  const bool taken = sqlite::is_there(place) || sqlite::has_log(place);
  if (taken && !replace) {
    fail(ErrorKind::usage,
         "{}: there is a store already, or a log of one. Name another place with --store, or --replace, which renames "
         "it first.",
         place.string());
  }
  sqlite::NewFile copy(place, sqlite::rights_of(file));
  Restored restored{sqlite::copy_store(sqlite::opened_backup(file), copy), {}};
  if (taken) {
    auto when = utc_now();
    when.erase(std::remove(when.begin(), when.end(), ':'), when.end());
    restored.aside = place.string() + ".replaced-" + when;
    sqlite::put_aside(place, restored.aside);
  } else {
    sqlite::remove_beside(place);
  }
  copy.publish();
  return restored;
}

}  // namespace assay::store
