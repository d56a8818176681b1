#pragma once

#include <sqlite3.h>

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "assay/core/error.hpp"
#include "assay/store/store.hpp"

namespace assay::store::sqlite {

/// What a failed call means for the user. `code` is SQLite's extended result code; `system_errno` is looked at only for
/// failures of the file system; `doing` completes "while …".
Error error_for(int code, int system_errno, const std::string& path, const std::string& doing,
                const std::string& detail);

/// One connection to a SQLite file, used by one thread at a time.
class Database {
 public:
  /// Opens the file with Assay's rules for durability. It does not look at what the file holds.
  /// Throws Error{usage} where there is no file to open and `access` does not allow making one.
  Database(const std::filesystem::path& path, Access access);

  /// Opens a file alone, without a log beside it, to read what is in it. Nobody may write it meanwhile.
  static Database only_file(const std::filesystem::path& path);

  /// Runs SQL without parameters and without results.
  void execute(const char* sql, const char* doing);

  /// The single integer that `sql` gives.
  std::int64_t integer(const char* sql, const char* doing);

  [[noreturn]] void raise(int code, const std::string& doing) const;

  /// Throws Error{away} where the file is no longer the one that was opened: what is written then is lost.
  void check_in_place(const char* doing) const;

  /// Puts a statement back when its user is done with it.
  struct GiveBack {
    Database* database;
    void operator()(sqlite3_stmt* statement) const { database->give_back(statement); }
  };
  using Prepared = std::unique_ptr<sqlite3_stmt, GiveBack>;

  /// A statement of this text, compiled at the first use only: a run's few statements cost more to compile than to run,
  /// and the write lock is held meanwhile.
  Prepared prepare(const std::string& sql, const char* doing);

  sqlite3* handle() const { return handle_.get(); }
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  explicit Database(std::string path) : path_(std::move(path)) {}
  void open(const std::string& name, int flags);
  void give_back(sqlite3_stmt* statement);
  void ensure_readable();
  void open_immutable(int code);

  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
  std::unordered_multimap<std::string, std::unique_ptr<sqlite3_stmt, Finalize>> idle_;  ///< by their SQL
};

/// Bytes bound as a blob instead of text.
struct Blob {
  const std::string& bytes;
};

/// A prepared statement. Values are bound, never written into the SQL.
class Statement {
 public:
  /// `doing` names the work in messages: "while …".
  Statement(Database& database, const std::string& sql, const char* doing);

  /// Starts over with these values for ?1, ?2, …; there must be one for each.
  template <typename... Values>
  Statement& bind(const Values&... values) {
    sqlite3_reset(statement_.get());
    ASSAY_CHECK(sqlite3_bind_parameter_count(statement_.get()) == static_cast<int>(sizeof...(values)));
    [[maybe_unused]] int position = 0;
    (check_bound(bind_one(++position, values)), ...);
    return *this;
  }

  /// The same, where `give` is called with a function that takes one value after the other.
  template <typename Give>
  Statement& bind_each(const Give& give) {
    sqlite3_reset(statement_.get());
    int position = 0;
    give([&](const auto& value) { check_bound(bind_one(++position, value)); });
    ASSAY_CHECK(sqlite3_bind_parameter_count(statement_.get()) == position);
    return *this;
  }

  /// True: there is a row to read. False: done.
  bool step();

  /// Steps to the end, for statements that only write.
  void run();

  /// Value of a column of the current row: int64, double, bool, string, or an optional of these.
  template <typename T>
  T get(int column) const {
    if constexpr (is_optional<T>::value) {
      if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
      return get<typename T::value_type>(column);
    } else if constexpr (std::is_same_v<T, bool>) {
      return sqlite3_column_int64(statement_.get(), column) != 0;
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      return sqlite3_column_int64(statement_.get(), column);
    } else if constexpr (std::is_same_v<T, double>) {
      return sqlite3_column_double(statement_.get(), column);
    } else {
      static_assert(std::is_same_v<T, std::string>);
      return bytes(column);
    }
  }
  std::string bytes(int column) const;

 private:
  template <typename T>
  struct is_optional : std::false_type {};
  template <typename T>
  struct is_optional<std::optional<T>> : std::true_type {};

  int bind_one(int position, std::integral auto value) {
    return sqlite3_bind_int64(statement_.get(), position, static_cast<std::int64_t>(value));
  }
  int bind_one(int position, double value) { return sqlite3_bind_double(statement_.get(), position, value); }
  int bind_one(int position, const std::string& value);
  int bind_one(int position, const char* value) { return bind_one(position, std::string(value)); }
  int bind_one(int position, const Blob& value);
  template <typename T>
  int bind_one(int position, const std::optional<T>& value) {
    return value ? bind_one(position, *value) : sqlite3_bind_null(statement_.get(), position);
  }

  void check_bound(int code) const;

  Database& database_;
  const char* doing_;
  Database::Prepared statement_;
};

/// A writing transaction: takes the write lock at once, so that it never fails half-way for want of it.
/// Rolled back unless committed; the connection is usable again after either.
class Transaction {
 public:
  Transaction(Database& database, const char* doing);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// When it returns, the changes are on the disk. When it throws, none of them has happened.
  void commit();

 private:
  Database& database_;
  const char* doing_;
};

}  // namespace assay::store::sqlite
