#include "assay/store/store.hpp"

#include <algorithm>
#include <cctype>

#include "assay/store/stores/sqlite/sqlite.hpp"

namespace assay::store {
namespace {

/// "postgresql" of "postgresql://host/name"; empty where the location is a path.
std::string scheme_of(const std::string& location) {
  const auto end = location.find("://");
  if (end == std::string::npos || end == 0) return "";
  const std::string scheme = location.substr(0, end);
  const bool is_scheme = std::all_of(scheme.begin(), scheme.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.';
  });
  return is_scheme ? scheme : "";
}

}  // namespace

std::unique_ptr<Store> open_store(const std::string& location, Access access) {
  if (location.empty()) fail(ErrorKind::usage, "store: its location is empty; use a file path.");
  if (location.find('\0') != std::string::npos) {
    fail(ErrorKind::usage, "store: {} holds a NUL byte, which no path can; use a file path.", shown(location));
  }
  const auto scheme = scheme_of(location);
  if (scheme == "postgresql" || scheme == "postgres") {
    // The location may hold a password: it is not repeated.
    fail(ErrorKind::usage, "PostgreSQL stores are not built yet; use a file path.");
  }
  if (!scheme.empty()) {
    fail(ErrorKind::usage, "store: {}:// is no kind of store that Assay knows; use a file path.", shown(scheme));
  }
  return std::make_unique<sqlite::SqliteStore>(location, access);
}

}  // namespace assay::store
