#include "assay/store/stores/postgres/libpq.hpp"

#include <dlfcn.h>

#include "assay/core/error.hpp"

namespace assay::store::postgres {
namespace {

constexpr const char* kLibrary = "libpq.so.5";

}  // namespace

const Libpq& Libpq::get() {
  static const Libpq library(kLibrary);
  return library;
}

template <typename F>
void Libpq::find(const char* symbol, F& function) {
  function = reinterpret_cast<F>(dlsym(library_, symbol));
  if (function == nullptr)
    fail(ErrorKind::failure, "{} has no {}: it is not the libpq of PostgreSQL.", kLibrary, symbol);
}

Libpq::Libpq(const char* name) : library_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) {
    fail(ErrorKind::failure, "a store in PostgreSQL needs its client library {}. Install it (Debian: libpq5).", name);
  }
  find("PQconnectdbParams", connect_params);
  find("PQconnectStartParams", connect_start_params);
  find("PQconninfoParse", parse);
  find("PQconninfo", options);
  find("PQconninfoFree", free_options);
  find("PQsslInUse", has_tls);
  find("PQgssEncInUse", has_gss_encryption);
  find("PQhostaddr", address);
  find("PQconnectPoll", connect_poll);
  find("PQsocket", socket);
  find("PQsetErrorVerbosity", set_error_verbosity);
  find("PQpingParams", ping_params);
  find("PQfinish", finish);
  find("PQstatus", status);
  find("PQerrorMessage", error_message);
  find("PQpass", password);
  find("PQuser", user);
  find("PQexec", exec);
  find("PQexecParams", exec_params);
  find("PQsendQueryParams", send_params);
  find("PQconsumeInput", consume_input);
  find("PQisBusy", is_busy);
  find("PQgetResult", next_result);
  find("PQresultStatus", result_status);
  find("PQresultErrorField", error_field);
  find("PQntuples", rows);
  find("PQgetisnull", is_null);
  find("PQgetvalue", value);
  find("PQgetlength", length);
  find("PQclear", clear);
  find("PQsetNoticeReceiver", set_notice_receiver);
}

}  // namespace assay::store::postgres
