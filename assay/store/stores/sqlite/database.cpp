#include "assay/store/stores/sqlite/database.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <thread>

namespace assay::store::sqlite {
namespace {

constexpr int kBusyTimeoutMs = 10'000;
constexpr int kBusyAttempts = 3;  // of the above each: half a minute in all

bool is_busy(int code) {
  return (code & 0xff) == SQLITE_BUSY;
}

bool is_full(int code, int system_errno) {
  const int primary = code & 0xff;
  if (primary == SQLITE_FULL) return true;
  const bool of_file_system = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN;
  return of_file_system && (system_errno == ENOSPC || system_errno == EDQUOT || system_errno == EFBIG);
}

bool is_failed_write(int code) {
  switch (code) {
    case SQLITE_IOERR_FSYNC:
    case SQLITE_IOERR_DIR_FSYNC:
    case SQLITE_IOERR_WRITE:
    case SQLITE_IOERR_TRUNCATE:
    case SQLITE_IOERR_CLOSE:
    case SQLITE_IOERR_DIR_CLOSE:
    case SQLITE_IOERR_COMMIT_ATOMIC:
    case SQLITE_IOERR_SHMOPEN:
    case SQLITE_IOERR_SHMSIZE:
    case SQLITE_IOERR_SHMMAP:
      return true;
    default:
      return false;
  }
}

/// A path as a file: URI, in which these three characters would have a meaning.
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

/// errno of the last call that SQLite saw fail on this thread. It often forgets it before it can be asked.
thread_local int logged_errno = 0;

/// SQLite reports a failed system call as "os_unix.c:LINE: (ERRNO) call(path) - text".
void on_log(void*, int, const char* message) {
  const char* bracket = std::strncmp(message, "os_unix.c:", 10) == 0 ? std::strchr(message, '(') : nullptr;
  if (bracket != nullptr) std::from_chars(bracket + 1, bracket + std::strlen(bracket), logged_errno);
}

void listen_to_sqlite() {
  static const int once = sqlite3_config(SQLITE_CONFIG_LOG, on_log, nullptr);
  static_cast<void>(once);
}

/// Whether a file could be made in the folder of `path`: 0, or why not. SQLite tries again read-only where a file
/// cannot be made, and then knows only that there is none.
int errno_of_new_file(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return errno == EOPNOTSUPP ? 0 : errno;
  close(fd);
  return 0;
}

/// Why the file system refused.
int last_errno(sqlite3* handle, int code, const std::string& path) {
  if ((code & 0xff) == SQLITE_CANTOPEN) {
    if (const int error = errno_of_new_file(std::filesystem::absolute(path)); error != 0) return error;
  }
  int error = sqlite3_system_errno(handle);
  if (error == 0) sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &error);
  sqlite3_file* log = nullptr;  // the file of the write-ahead log remembers the longest
  if (error == 0 && sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK &&
      log != nullptr && log->pMethods != nullptr) {
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &error);
  }
  return error != 0 ? error : logged_errno;
}

std::string reason_of(int system_errno) {
  return system_errno != 0 ? std::strerror(system_errno) : "no reason was given";
}

}  // namespace

Error error_for(int code, int system_errno, const std::string& path, const std::string& doing,
                const std::string& detail) {
  const auto because = [&](ErrorKind kind, const std::string& text) {
    return Error(kind, fmt::format("{}: {} (while {}; SQLite: {}, code {}).", path, text, doing, detail, code));
  };
  if (is_full(code, system_errno)) {
    return because(ErrorKind::no_space,
                   "the disk that holds the store is full, or a limit on file size or quota is reached; free space, "
                   "then run the same command again: nothing finished is lost");
  }
  if (is_failed_write(code)) {
    return because(ErrorKind::not_durable,
                   fmt::format("the disk refused to keep what was written ({}), so the last step does not count as "
                               "stored; look at the disk's health (dmesg), then run the same command again",
                               reason_of(system_errno)));
  }
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
      return because(ErrorKind::failure,
                     "the store is damaged; keep a copy, then try `sqlite3 FILE .recover` or go back to a backup");
    case SQLITE_NOTADB:
      return because(ErrorKind::failure, "this file is not an Assay store and was not changed; choose another --store");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return because(ErrorKind::away,
                     "another program keeps the store locked; end it (`fuser FILE` names it), then run the same "
                     "command again");
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return because(ErrorKind::forbidden, "the store cannot be written; check the rights on the file and its folder");
    case SQLITE_CANTOPEN:
      return because(
          ErrorKind::failure,
          fmt::format("the store cannot be opened ({}); check its folder and your rights", reason_of(system_errno)));
    case SQLITE_IOERR:
      return because(ErrorKind::away, fmt::format("the store could not be read ({}); look at the disk's health (dmesg)",
                                                  reason_of(system_errno)));
    default:
      return because(ErrorKind::failure, "the store did not do what was asked");
  }
}

Database::Database(const std::filesystem::path& path, Access access) : path_(path.string()) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) fail(ErrorKind::usage, "{}: a folder, where a store is one file.", path_);
  // Opening a FIFO would wait for its other end, whatever signals come.
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
    fail(ErrorKind::usage, "{}: not a regular file, so not a store. Name another with --store.", path_);
  }
  if (access != Access::create && !fs::exists(path, ignored)) {
    fail(ErrorKind::usage, "{}: there is no store. Name one with --store, or make it with `assay run`.", path_);
  }
  const auto folder = fs::absolute(path).parent_path();
  if (access == Access::create && !fs::is_directory(folder, ignored)) {
    fail(ErrorKind::usage, "{}: the folder {} does not exist; make it first.", path_, folder.string());
  }
  // An absolute name is never taken for ":memory:" or a "file:" URI.
  const std::string name = fs::absolute(path).string();
  const int flags = access == Access::read     ? SQLITE_OPEN_READONLY
                    : access == Access::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                               : SQLITE_OPEN_READWRITE;
  open(name, flags);
  if (access == Access::read) ensure_readable();
  execute("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA cache_size = -32768", "opening it");
}

Database Database::only_file(const std::filesystem::path& path) {
  Database out(path.string());
  out.open(immutable_uri(std::filesystem::absolute(path).string()), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  return out;
}

void Database::ensure_readable() {
  // A database in WAL mode needs its -shm file, which may not be there and not be makeable.
  const int code = sqlite3_exec(handle(), "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr);
  const int primary = code & 0xff;
  if (primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY) open_immutable(code);
}

void Database::open(const std::string& name, int flags) {
  listen_to_sqlite();
  logged_errno = 0;
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &opened, flags | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(opened);
  if (code != SQLITE_OK) raise(code, "opening it");
  sqlite3_busy_timeout(handle(), kBusyTimeoutMs);
  // The file may come from somebody else: its schema may call nothing that has side effects.
  sqlite3_db_config(handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
}

void Database::open_immutable(int code) {
  const auto wal = std::filesystem::absolute(path_).string() + "-wal";
  std::error_code missing;
  const auto size = std::filesystem::file_size(wal, missing);
  if (!missing && size > 0) {
    raise(code, fmt::format("reading it without the right to write its folder, though {} holds changes", wal));
  }
  open(immutable_uri(std::filesystem::absolute(path_).string()), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

void Database::execute(const char* sql, const char* doing) {
  const int code = sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) raise(code, doing);
}

std::int64_t Database::integer(const char* sql, const char* doing) {
  Statement statement(*this, sql, doing);
  ASSAY_CHECK(statement.step());
  return statement.get<std::int64_t>(0);
}

void Database::raise(int code, const std::string& doing) const {
  const int system_errno = handle_ ? last_errno(handle(), code, path_) : 0;
  const std::string detail = handle_ ? sqlite3_errmsg(handle()) : sqlite3_errstr(code);
  throw error_for(code, system_errno, path_, doing, detail);
}

Database::Prepared Database::prepare(const std::string& sql, const char* doing) {
  if (const auto known = idle_.find(sql); known != idle_.end()) {
    Prepared prepared(known->second.release(), GiveBack{this});
    idle_.erase(known);
    return prepared;
  }
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v3(handle(), sql.c_str(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &prepared, nullptr);
  if (code != SQLITE_OK) raise(code, doing);
  return Prepared(prepared, GiveBack{this});
}

void Database::give_back(sqlite3_stmt* statement) {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  idle_.emplace(sqlite3_sql(statement), statement);
}

Statement::Statement(Database& database, const std::string& sql, const char* doing)
    : database_(database), doing_(doing), statement_(database.prepare(sql, doing)) {}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.raise(code, doing_);
  return false;
}

void Statement::run() {
  while (step()) {
  }
  sqlite3_reset(statement_.get());
}

void Database::check_in_place(const char* doing) const {
  int moved = 0;
  if (sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK || moved == 0) return;
  fail(ErrorKind::away,
       "{}: the store's file was removed or replaced while it was in use (while {}). Put it back, or restore a backup "
       "with `assay store restore`, then run the same command again.",
       path_, doing);
}

int Statement::bind_one(int position, const std::string& value) {
  return sqlite3_bind_text64(statement_.get(), position, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

int Statement::bind_one(int position, const Blob& value) {
  return sqlite3_bind_blob64(statement_.get(), position, value.bytes.data(), value.bytes.size(), SQLITE_TRANSIENT);
}

void Statement::check_bound(int code) const {
  if (code != SQLITE_OK) database_.raise(code, doing_);
}

std::string Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return size == 0 ? std::string() : std::string(static_cast<const char*>(data), size);
}

Transaction::Transaction(Database& database, const char* doing) : database_(database), doing_(doing) {
  for (int attempt = 1;; ++attempt) {
    const int code = sqlite3_exec(database.handle(), "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) break;
    if (!is_busy(code) || attempt == kBusyAttempts) database.raise(code, doing);
    // SQLite says busy at once, without its timeout, while another connection recovers the log.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  try {
    database.check_in_place(doing);
  } catch (const Error&) {  // no destructor ends what a constructor began
    sqlite3_exec(database.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

Transaction::~Transaction() {
  // After a full disk SQLite may have rolled back by itself.
  if (sqlite3_get_autocommit(database_.handle()) == 0) {
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void Transaction::commit() {
  database_.execute("COMMIT", doing_);
  database_.check_in_place(doing_);  // afterwards, so that an answer means that the store has it
}

}  // namespace assay::store::sqlite
