#pragma once

#include <string>

namespace assay::store {

/// Where a store is, as a user says it: the path of a SQLite file; postgresql://USER@HOST/DATABASE; or @FILE, the file
/// that holds one of these in its first line, so that a password is in no command line.
struct Location {
  std::string place;     ///< path or URL; a URL may hold a password and is shown to nobody
  std::string shown;     ///< the same without secrets, for messages and reports
  bool is_file = true;   ///< a SQLite file
  std::string identity;  ///< tells two stores apart; holds no secret
};

/// Throws Error{usage} where `given` is empty or no location, or names a file that holds none, or one with a password
/// that others may read. libpq's other form, "host=h password=…", is not a location, and no message repeats it.
Location locate(const std::string& given);

/// For messages: `given` itself, but without the password of a URL, and nothing of a connection string. Never throws.
std::string shown_location(const std::string& given);

/// Whether this word of a command line holds a URL with a password, or gives one as password=…, which every user of the
/// host could then read.
bool has_password(const std::string& word);

}  // namespace assay::store
