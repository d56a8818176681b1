#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "assay/core/error.hpp"
#include "assay/core/text/number.hpp"
#include "assay/store/location.hpp"
#include "assay/store/stores/postgres/errors.hpp"
#include "assay/store/stores/postgres/libpq.hpp"

namespace assay::store::postgres {

/// PostgreSQL's text holds no NUL byte and only UTF-8. A NUL is kept as U+E000 and '0', U+E000 itself as U+E000 and
/// 'e'; broken bytes are replaced.
std::string to_server(const std::string& text);
std::string from_server(const std::string& text);

/// Text that to_server() has been applied to already, or that needs none of it.
struct Encoded {
  std::string text;
};

/// A list as the server reads it: {1,2,NULL}.
Encoded array_of(const std::vector<std::int64_t>& values);
Encoded array_of(const std::vector<std::optional<std::string>>& values);

/// The rows that a statement gave, one after the other.
class Result {
 public:
  explicit Result(pg_result* rows) : rows_(rows), count_(Libpq::get().rows(rows)) {}

  /// True: there is a row to read. False: done.
  bool step() { return ++row_ < count_; }
  int count() const { return count_; }

  /// Value of a column of the current row: int64, double, bool (of an integer), string, or an optional of these.
  template <typename T>
  T get(int column) const {
    if constexpr (is_optional<T>::value) {
      if (Libpq::get().is_null(rows_.get(), row_, column) != 0) return std::nullopt;
      return get<typename T::value_type>(column);
    } else if constexpr (std::is_same_v<T, bool>) {
      return number<std::int64_t>(column) != 0;
    } else if constexpr (std::is_same_v<T, std::string>) {
      return from_server(text(column));
    } else {
      return number<T>(column);
    }
  }

  /// A column of type bytea.
  std::string bytes(int column) const;

 private:
  template <typename T>
  struct is_optional : std::false_type {};
  template <typename T>
  struct is_optional<std::optional<T>> : std::true_type {};

  struct Clear {
    void operator()(pg_result* rows) const { Libpq::get().clear(rows); }
  };

  std::string text(int column) const;

  template <typename T>
  T number(int column) const {
    const auto digits = text(column);
    const auto value = parse_number<T>(digits);
    ASSAY_CHECK(value.has_value());
    return *value;
  }

  std::unique_ptr<pg_result, Clear> rows_;
  int row_ = -1;
  int count_;
};

/// One connection to a server, used by one thread at a time. A connection that broke is made again by the next call.
/// Nothing is ever set for the session: a pooler gives it to others. What a statement needs is set in its transaction.
class Connection {
 public:
  /// Connects. Throws Error{away} where no server answers, Error{failure} where it refuses; later that is Error{away}
  /// too.
  Connection(const Location& location, bool read_only);

  /// Reads with bound values for $1, $2, …, in a transaction of its own that can write nothing. Where the connection
  /// breaks it is run once more; inside of a transaction it is not.
  template <typename... Values>
  Result read(const std::string& sql, const char* doing, const Values&... values) {
    return run(sql, doing, {parameter(values)...}, Mode::read);
  }

  /// Writes in a transaction of its own. Where the connection breaks it is run once more, so that it must do no harm
  /// twice.
  template <typename... Values>
  Result write(const std::string& sql, const char* doing, const Values&... values) {
    return run(sql, doing, {parameter(values)...}, Mode::write);
  }

  /// Calls a function of the store, whose name is to be qualified: the statement is all that is sent, and nothing is
  /// set for it. Where the connection breaks it is run once more, so that it must do no harm twice.
  template <typename... Values>
  Result query(const std::string& sql, const char* doing, const Values&... values) {
    return run(sql, doing, {parameter(values)...}, Mode::call);
  }

  /// The same for a statement that must not be run twice: where the connection breaks, Error{away} is thrown. Also for
  /// statements of a Transaction.
  template <typename... Values>
  Result once(const std::string& sql, const char* doing, const Values&... values) {
    return run(sql, doing, {parameter(values)...}, Mode::once);
  }

  /// The single integer that `sql` gives, as by query().
  template <typename... Values>
  std::int64_t integer(const std::string& sql, const char* doing, const Values&... values) {
    return integer_of(query(sql, doing, values...));
  }

  /// The single integer that `rows` hold.
  static std::int64_t integer_of(Result rows) {
    ASSAY_CHECK(rows.step());
    return rows.get<std::int64_t>(0);
  }

  /// Runs SQL of our own, also several statements, without values and results; not once more.
  void execute(const std::string& sql, const char* doing);

  /// How long a call of a function of the store may take; 30 s unless it is said otherwise.
  void set_patience(int seconds) { answer_seconds_ = seconds; }

  /// Name of the store for messages.
  const std::string& shown() const { return location_.shown; }
  /// The role that is connected.
  const std::string& role() const { return role_; }

 private:
  friend class Transaction;
  enum class Mode { read, write, call, once };
  using Parameter = std::optional<std::string>;

  static Parameter parameter(std::integral auto value) { return std::to_string(static_cast<std::int64_t>(value)); }
  static Parameter parameter(double value) { return fmt::format("{}", value); }
  static Parameter parameter(const std::string& value) { return to_server(value); }
  static Parameter parameter(const char* value) { return to_server(value); }
  static Parameter parameter(const Encoded& value) { return value.text; }
  template <typename T>
  static Parameter parameter(const std::optional<T>& value) {
    return value ? parameter(*value) : std::nullopt;
  }

  struct Finish {
    void operator()(pg_conn* connection) const { Libpq::get().finish(connection); }
  };

  void connect();
  /// Throws what a connection that failed with `text` means, unless the server has come back since.
  void diagnose(const std::string& text) const;
  /// Throws where what is sent crosses a network in plain text, unless the user said so with sslmode=disable.
  void check_secure();
  Error insecure(const std::string& text) const;
  Circumstances circumstances(const char* doing) const;
  pg_conn* connected();
  Result run(const std::string& sql, const char* doing, const std::vector<Parameter>& values, Mode mode);
  /// False where the server says nothing for too long.
  bool await_answer(pg_conn* connection) const;
  Result send(const std::string& sql, const char* doing, const std::vector<Parameter>& values);
  /// Takes what a call gave; throws where that is no success.
  Result checked(pg_result* result, const char* doing);
  /// `text` of the server without the password that was used.
  std::string without_password(std::string text) const;

  Location location_;
  bool read_only_;
  bool in_transaction_ = false;
  bool has_worked_ = false;
  int answer_seconds_ = 30;
  std::string role_;
  std::unique_ptr<pg_conn, Finish> connection_;
};

/// A transaction of several statements, rolled back unless committed. Names without a schema are those of the store.
class Transaction {
 public:
  /// Begins one that reads, where `read_only` or the connection is for reading, or one that writes durably.
  Transaction(Connection& connection, const char* doing, bool read_only = false);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// When it returns, the changes are durable. When it throws Error{away}, that is not known.
  void commit();

 private:
  void begin(const char* sql);

  Connection& connection_;
  const char* doing_;
  bool open_ = true;
};

}  // namespace assay::store::postgres
