#include "assay/store/stores/postgres/connection.hpp"

#include <poll.h>

#include <array>
#include <chrono>

#include "assay/store/records/record_row.hpp"
#include "assay/store/secrets.hpp"
#include "assay/store/stores/postgres/tls.hpp"

namespace assay::store::postgres {
namespace {

constexpr const char* kConnecting = "connecting";
constexpr int kMostDeadlocks = 5;
constexpr int kDiagnosisSeconds = 10;
constexpr const char* kEscape = "\xee\x80\x80";  // U+E000, which is for private use

// How transactions begin. Whatever was set for the database, the role or the session that a pooler gave us: names are
// those of the store, numbers have all their digits, and what was committed is on the disk of the server.
constexpr const char* kBeginReading =
    "BEGIN READ ONLY; SET LOCAL search_path TO assay, pg_temp; SET LOCAL extra_float_digits TO 1; "
    "SET LOCAL bytea_output TO hex; SET LOCAL idle_in_transaction_session_timeout TO '60s'";
constexpr const char* kBeginWriting =
    "BEGIN READ WRITE; SET LOCAL search_path TO assay, pg_temp; SET LOCAL extra_float_digits TO 1; "
    "SET LOCAL bytea_output TO hex; SET LOCAL idle_in_transaction_session_timeout TO '60s'; "
    "SELECT pg_catalog.set_config('synchronous_commit', 'on', true) "
    "WHERE pg_catalog.current_setting('synchronous_commit') OPERATOR(pg_catalog.=) 'off'";
constexpr const char* kTakesNoWrites = "25006";
constexpr const char* kNotSupported = "0A000";  // also of BEGIN READ WRITE on a standby

/// An answer of the server.
struct Refusal : Error {
  Refusal(const Error& error, std::string a_state) : Error(error), state(std::move(a_state)) {}
  std::string state;
};

/// Parameters of a connection: ours first, so that the URL may say otherwise; those after it hold in any case.
struct Parameters {
  explicit Parameters(const std::string& url)
      : values{"10", "10", "5", "3", "15000", "assay", default_sslmode(url), url.c_str(), "UTF8", nullptr} {}

  static constexpr std::array<const char*, 10> kKeywords{"connect_timeout",
                                                         "keepalives_idle",
                                                         "keepalives_interval",
                                                         "keepalives_count",
                                                         "tcp_user_timeout",
                                                         "application_name",
                                                         "sslmode",
                                                         "dbname",
                                                         "client_encoding",
                                                         nullptr};
  std::array<const char*, 10> values;
};

std::string sslmode_of(pg_conn* connection) {
  const auto& pq = Libpq::get();
  const std::unique_ptr<ConnectionOption, void (*)(ConnectionOption*)> options(pq.options(connection), pq.free_options);
  for (const auto* one = options.get(); one != nullptr && one->keyword != nullptr; ++one) {
    if (std::string(one->keyword) == "sslmode" && one->value != nullptr) return one->value;
  }
  return "";
}

using Connecting = std::unique_ptr<pg_conn, void (*)(pg_conn*)>;

/// Waits until the connection can go on. False where that takes too long.
bool wait_for(const pg_conn* connection, bool reading, std::chrono::steady_clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  pollfd fd{Libpq::get().socket(connection), static_cast<short>(reading ? POLLIN : POLLOUT), 0};
  return left.count() > 0 && poll(&fd, 1, static_cast<int>(left.count())) > 0;
}

/// Goes on with a connection that was begun; the last answer of connect_poll().
int finish_connecting(pg_conn* connection) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(kDiagnosisSeconds);
  int step = kPollingWriting;  // as libpq asks for behind its start
  while (step == kPollingReading || step == kPollingWriting) {
    if (!wait_for(connection, step == kPollingReading, deadline)) return kPollingFailed;
    step = Libpq::get().connect_poll(connection);
  }
  return step;
}

}  // namespace

std::string to_server(const std::string& text) {
  std::string whole = as_utf8(text);
  if (whole.find('\0') == std::string::npos && whole.find(kEscape) == std::string::npos) return whole;
  std::string out;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    if (whole[at] == '\0') {
      out += std::string(kEscape) + '0';
    } else if (whole.compare(at, 3, kEscape) == 0) {
      out += std::string(kEscape) + 'e';
      at += 2;
    } else {
      out += whole[at];
    }
  }
  return out;
}

std::string from_server(const std::string& text) {
  if (text.find(kEscape) == std::string::npos) return text;
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.compare(at, 3, kEscape) != 0) {
      out += text[at];
      continue;
    }
    const char kind = at + 3 < text.size() ? text[at + 3] : 'e';
    out += kind == '0' ? std::string(1, '\0') : std::string(kEscape);
    at += 3;
  }
  return out;
}

Encoded array_of(const std::vector<std::int64_t>& values) {
  std::string out = "{";
  for (const auto value : values) out += (out.size() > 1 ? "," : "") + std::to_string(value);
  return {out + "}"};
}

Encoded array_of(const std::vector<std::optional<std::string>>& values) {
  std::string out = "{";
  for (const auto& value : values) {
    if (out.size() > 1) out += ',';
    if (!value) {
      out += "NULL";
      continue;
    }
    out += '"';
    for (const char c : to_server(*value)) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += '"';
  }
  return {out + "}"};
}

std::string Result::text(int column) const {
  const auto& pq = Libpq::get();
  return {pq.value(rows_.get(), row_, column), static_cast<std::size_t>(pq.length(rows_.get(), row_, column))};
}

std::string Result::bytes(int column) const {
  const auto hex = text(column);  // as \x0123…
  std::string out;
  out.reserve(hex.size() / 2);
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t at = 2; at + 1 < hex.size(); at += 2) {
    out += static_cast<char>(digit(hex[at]) * 16 + digit(hex[at + 1]));
  }
  return out;
}

Connection::Connection(const Location& location, bool read_only) : location_(location), read_only_(read_only) {
  connect();
}

void Connection::connect() {
  const auto& pq = Libpq::get();
  const Parameters parameters(location_.place);
  for (int attempt = 0; attempt < 2; ++attempt) {
    connection_.reset(pq.connect_params(Parameters::kKeywords.data(), parameters.values.data(), 1));
    if (connection_ && pq.status(connection_.get()) == kConnectionOk) break;
    const std::string text = connection_ ? without_password(pq.error_message(connection_.get())) : "no memory";
    connection_.reset();
    diagnose(text);
    if (attempt == 1) throw error_for("", text, circumstances(kConnecting));
  }
  check_secure();
  pq.set_notice_receiver(
      connection_.get(), [](void*, const pg_result*) {}, nullptr);
  role_ = pq.user(connection_.get());
  has_worked_ = true;
}

void Connection::diagnose(const std::string& text) const {
  const auto& pq = Libpq::get();
  const Parameters parameters(location_.place);
  // libpq does not give the SQLSTATE of a connection that failed, only its text in the server's language. It does write
  // it into that text where it is asked to before the server answers.
  const Connecting trial(pq.connect_start_params(Parameters::kKeywords.data(), parameters.values.data(), 1), pq.finish);
  if (!trial) throw error_for("", "no memory", circumstances(kConnecting));
  if (pq.status(trial.get()) == kConnectionBad) {
    if (pq.ping_params(Parameters::kKeywords.data(), parameters.values.data(), 1) == kPingNoAttempt) {
      // What libpq says of a URL that it cannot read may repeat any part of it.
      fail(ErrorKind::usage,
           "{}: this is not a URL that PostgreSQL understands. Write postgresql://USER@HOST/DATABASE.",
           location_.shown);
    }
    throw error_for("", text, circumstances(kConnecting));
  }
  pq.set_error_verbosity(trial.get(), kVerbose);
  if (finish_connecting(trial.get()) == kPollingOk) return;
  const auto state = state_in(pq.error_message(trial.get()));
  if (state.empty() && is_insecure(text)) throw insecure(text);
  throw error_for(state, text, circumstances(kConnecting));
}

Error Connection::insecure(const std::string& text) const {
  return {
      has_worked_ ? ErrorKind::away : ErrorKind::failure,
      fmt::format("{}: there is no secure connection to the server, and it is not on this machine: others could read "
                  "and change what is sent. Turn on ssl at the server and see that its certificate is right; on a "
                  "network that is safe by itself, add sslmode=disable to the URL (PostgreSQL: {}).",
                  location_.shown, in_one_line(text))};
}

void Connection::check_secure() {
  const auto& pq = Libpq::get();
  auto* const connection = connection_.get();
  const char* address = pq.address(connection);  // none of a unix socket
  if (pq.has_tls(connection) != 0 || pq.has_gss_encryption(connection) != 0) return;
  if (is_local_host(address == nullptr ? "" : address) || sslmode_of(connection) == "disable") return;
  connection_.reset();
  throw insecure("the server does not offer TLS, with which it would have been used");
}

Circumstances Connection::circumstances(const char* doing) const {
  return {location_.shown, doing, role_, has_worked_};
}

pg_conn* Connection::connected() {
  if (!connection_) connect();
  return connection_.get();
}

std::string Connection::without_password(std::string text) const {
  const char* password = Libpq::get().password(connection_.get());
  const std::string secret = password == nullptr ? "" : password;
  for (auto at = text.find(secret); !secret.empty() && at != std::string::npos; at = text.find(secret, at + 3)) {
    text.replace(at, secret.size(), "***");
  }
  if (repeats_secret(location_.place, text)) return "its answer repeats a part of the URL and is not shown";
  return text;
}

Result Connection::checked(pg_result* result, const char* doing) {
  const auto& pq = Libpq::get();
  const int status = result == nullptr ? -1 : pq.result_status(result);
  if (status == kTuplesOk || status == kCommandOk) return Result(result);
  const char* state = result == nullptr ? nullptr : pq.error_field(result, kDiagnosticState);
  const char* primary = result == nullptr ? nullptr : pq.error_field(result, kDiagnosticText);
  const std::string code = state == nullptr ? "" : state;
  const std::string text = without_password(primary != nullptr ? primary : pq.error_message(connection_.get()));
  if (result != nullptr) pq.clear(result);
  if (read_only_ && code == kTakesNoWrites) {
    fail(ErrorKind::failure, "{}: the store is only read here (while {}; PostgreSQL: {}).", location_.shown, doing,
         in_one_line(text));
  }
  // What a dying server said last may come before libpq sees that the connection is gone.
  const bool gone = pq.status(connection_.get()) != kConnectionOk;
  if (gone || needs_new_connection(code)) connection_.reset();
  const auto error = error_for(code, text, circumstances(doing));
  if (!gone || error.kind() == ErrorKind::away) throw Refusal(error, code);
  throw Refusal(error_for("", text, circumstances(doing)), "");
}

Result Connection::send(const std::string& sql, const char* doing, const std::vector<Parameter>& values) {
  std::vector<const char*> texts;
  texts.reserve(values.size());
  for (const auto& value : values) texts.push_back(value ? value->c_str() : nullptr);
  const auto& pq = Libpq::get();
  auto* const connection = connected();
  const auto count = static_cast<int>(texts.size());
  if (in_transaction_) {
    return checked(pq.exec_params(connection, sql.c_str(), count, nullptr, texts.data(), nullptr, nullptr, 0), doing);
  }
  // A call of a function of the store, which takes milliseconds. Somebody who supervises a worker waits for it.
  if (pq.send_params(connection, sql.c_str(), count, nullptr, texts.data(), nullptr, nullptr, 0) == 0) {
    return checked(nullptr, doing);
  }
  if (!await_answer(connection)) {
    connection_.reset();
    throw error_for("", fmt::format("no answer within {} s", answer_seconds_), circumstances(doing));
  }
  auto* const first = pq.next_result(connection);
  while (auto* const more = pq.next_result(connection)) pq.clear(more);
  return checked(first, doing);
}

bool Connection::await_answer(pg_conn* connection) const {
  const auto& pq = Libpq::get();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(answer_seconds_);
  while (pq.is_busy(connection) != 0) {
    if (!wait_for(connection, true, deadline)) return false;
    if (pq.consume_input(connection) == 0) return true;  // it broke, as the result will say
  }
  return true;
}

Result Connection::run(const std::string& sql, const char* doing, const std::vector<Parameter>& values, Mode mode) {
  if (in_transaction_) return send(sql, doing, values);
  bool repeatable = mode != Mode::once;
  bool wrapped = read_only_ || mode == Mode::read || mode == Mode::write;
  for (int collisions = 0;;) {
    try {
      if (!wrapped) return send(sql, doing, values);
      Transaction transaction(*this, doing, mode == Mode::read);
      auto rows = send(sql, doing, values);
      transaction.commit();
      return rows;
    } catch (const Refusal& refusal) {
      if (is_collision(refusal.state)) {
        if (++collisions > kMostDeadlocks) throw;
      } else if (refusal.state == kTakesNoWrites && !wrapped) {
        wrapped = true;  // it did nothing. Where the session alone was set to read only, a transaction may write
      } else if (connection_ || refusal.kind() != ErrorKind::away || !repeatable) {
        throw;
      } else {
        repeatable = false;
      }
    }
  }
}

void Connection::execute(const std::string& sql, const char* doing) {
  checked(Libpq::get().exec(connected(), sql.c_str()), doing);
}

Transaction::Transaction(Connection& connection, const char* doing, bool read_only)
    : connection_(connection), doing_(doing) {
  ASSAY_CHECK(!connection_.in_transaction_);
  const char* const sql = read_only || connection_.read_only_ ? kBeginReading : kBeginWriting;
  try {
    begin(sql);
  } catch (const Error& error) {
    if (connection_.connection_ || error.kind() != ErrorKind::away) throw;
    begin(sql);  // the connection had broken since the last call: a new one
  }
  connection_.in_transaction_ = true;
}

void Transaction::begin(const char* sql) {
  try {
    connection_.execute(sql, doing_);
  } catch (const Refusal& refusal) {
    connection_.connection_.reset();  // it may have begun; and another server may take writes
    if (refusal.state != kNotSupported) throw;
    throw error_for(kTakesNoWrites, "recovery is in progress", connection_.circumstances(doing_));
  }
}

Transaction::~Transaction() {
  connection_.in_transaction_ = false;
  if (!open_ || !connection_.connection_) return;
  try {
    connection_.execute("ROLLBACK", doing_);
  } catch (const Error&) {
    connection_.connection_.reset();  // the server ends it with the connection
  }
}

void Transaction::commit() {
  open_ = false;
  connection_.execute("COMMIT", doing_);
}

}  // namespace assay::store::postgres
