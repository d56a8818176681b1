#pragma once

#include <cstddef>
#include <string>

// The few declarations of PostgreSQL's libpq that are used here, from its public documentation. Their meaning has been
// the same in every libpq.so.5.
struct pg_conn;
struct pg_result;

namespace assay::store::postgres {

constexpr int kConnectionOk = 0;       ///< of status()
constexpr int kConnectionBad = 1;      ///< of status()
constexpr int kCommandOk = 1;          ///< of result_status()
constexpr int kTuplesOk = 2;           ///< of result_status()
constexpr int kPollingFailed = 0;      ///< of connect_poll()
constexpr int kPollingReading = 1;     ///< of connect_poll()
constexpr int kPollingWriting = 2;     ///< of connect_poll()
constexpr int kPollingOk = 3;          ///< of connect_poll()
constexpr int kVerbose = 2;            ///< of set_error_verbosity(): with SQLSTATE
constexpr int kPingOk = 0;             ///< of ping_params()
constexpr int kPingNoAttempt = 3;      ///< of ping_params(): the parameters are wrong
constexpr int kDiagnosticState = 'C';  ///< of error_field(): SQLSTATE
constexpr int kDiagnosticText = 'M';   ///< of error_field(): the message itself

/// PQconninfoOption: one of the parameters of a connection. A list of them ends with one that has no keyword.
struct ConnectionOption {
  char* keyword;
  char* variable;
  char* compiled;
  char* value;
  char* label;
  char* shown_as;
  int shown_size;
};

/// The functions of an open libpq. It is opened at the first use and stays: `assay` needs none of it otherwise.
class Libpq {
 public:
  /// Throws Error{failure} that says what to install where there is none.
  static const Libpq& get();

  pg_conn* (*connect_params)(const char* const* keywords, const char* const* values, int expand) = nullptr;
  pg_conn* (*connect_start_params)(const char* const* keywords, const char* const* values, int expand) = nullptr;
  ConnectionOption* (*parse)(const char* url, char** error) = nullptr;
  ConnectionOption* (*options)(pg_conn*) = nullptr;
  void (*free_options)(ConnectionOption*) = nullptr;
  int (*has_tls)(pg_conn*) = nullptr;
  int (*has_gss_encryption)(pg_conn*) = nullptr;
  char* (*address)(const pg_conn*) = nullptr;
  int (*connect_poll)(pg_conn*) = nullptr;
  int (*socket)(const pg_conn*) = nullptr;
  int (*set_error_verbosity)(pg_conn*, int verbosity) = nullptr;
  int (*ping_params)(const char* const* keywords, const char* const* values, int expand) = nullptr;
  void (*finish)(pg_conn*) = nullptr;
  int (*status)(const pg_conn*) = nullptr;
  char* (*error_message)(const pg_conn*) = nullptr;
  char* (*password)(const pg_conn*) = nullptr;
  char* (*user)(const pg_conn*) = nullptr;
  pg_result* (*exec)(pg_conn*, const char* sql) = nullptr;
  pg_result* (*exec_params)(pg_conn*, const char* sql, int count, const unsigned* types, const char* const* values,
                            const int* lengths, const int* formats, int result_format) = nullptr;
  int (*send_params)(pg_conn*, const char* sql, int count, const unsigned* types, const char* const* values,
                     const int* lengths, const int* formats, int result_format) = nullptr;
  int (*consume_input)(pg_conn*) = nullptr;
  int (*is_busy)(pg_conn*) = nullptr;
  pg_result* (*next_result)(pg_conn*) = nullptr;
  int (*result_status)(const pg_result*) = nullptr;
  char* (*error_field)(const pg_result*, int field) = nullptr;
  int (*rows)(const pg_result*) = nullptr;
  int (*is_null)(const pg_result*, int row, int column) = nullptr;
  char* (*value)(const pg_result*, int row, int column) = nullptr;
  int (*length)(const pg_result*, int row, int column) = nullptr;
  void (*clear)(pg_result*) = nullptr;
  void* (*set_notice_receiver)(pg_conn*, void (*receiver)(void*, const pg_result*), void* argument) = nullptr;

 private:
  explicit Libpq(const char* name);

  template <typename F>
  void find(const char* symbol, F& function);

  void* library_;
};

}  // namespace assay::store::postgres
