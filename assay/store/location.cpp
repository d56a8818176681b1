#include "assay/store/location.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <string_view>

#include "assay/core/error.hpp"
#include "assay/core/text/file.hpp"
#include "assay/store/secrets.hpp"

namespace assay::store {
namespace {

constexpr std::size_t kLongestLocation = 4096;
constexpr const char* kNotShown = "(a connection string, which is not shown)";
constexpr const char* kBlanks = " \t\r\n\v\f";

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

bool is_server(const std::string& scheme) {
  return scheme == "postgresql" || scheme == "postgres";
}

/// Whether `name` stands at `at`, and after it, perhaps after blanks, an equals sign.
bool assigns(const std::string& text, std::size_t at, std::string_view name) {
  if (text.compare(at, name.size(), name) != 0) return false;
  const auto next = text.find_first_not_of(kBlanks, at + name.size());
  return next != std::string::npos && text[next] == '=';
}

/// Keywords with which a connection string of libpq may begin: "host=h dbname=d".
constexpr std::array kKeywords{"host",
                               "hostaddr",
                               "port",
                               "dbname",
                               "user",
                               "password",
                               "passfile",
                               "service",
                               "servicefile",
                               "options",
                               "application_name",
                               "fallback_application_name",
                               "client_encoding",
                               "connect_timeout",
                               "channel_binding",
                               "require_auth",
                               "sslmode",
                               "sslnegotiation",
                               "sslcompression",
                               "sslcert",
                               "sslkey",
                               "sslpassword",
                               "sslcertmode",
                               "sslrootcert",
                               "sslcrl",
                               "sslcrldir",
                               "sslsni",
                               "requiressl",
                               "requirepeer",
                               "ssl_min_protocol_version",
                               "ssl_max_protocol_version",
                               "krbsrvname",
                               "gsslib",
                               "gssencmode",
                               "gssdelegation",
                               "keepalives",
                               "keepalives_idle",
                               "keepalives_interval",
                               "keepalives_count",
                               "tcp_user_timeout",
                               "replication",
                               "target_session_attrs",
                               "load_balance_hosts"};

bool begins_with_keyword(const std::string& text) {
  const auto begin = text.find_first_not_of(kBlanks);
  return begin != std::string::npos &&
         std::any_of(kKeywords.begin(), kKeywords.end(), [&](const char* name) { return assigns(text, begin, name); });
}

/// Whether a password is given as NAME=value, at the beginning or behind another value: "host=h password=secret". Also
/// sslpassword and PGPASSWORD, in letters of either case.
bool assigns_password(const std::string& text) {
  constexpr std::string_view kName = "password";
  constexpr std::string_view kBeforeName = " \t\r\n\v\f='\",;";
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (auto at = lower.find(kName); at != std::string::npos; at = lower.find(kName, at + 1)) {
    if (!assigns(lower, at, kName)) continue;
    auto begin = at;
    if (at >= 3 && lower.compare(at - 3, 3, "ssl") == 0) begin -= 3;
    if (at >= 2 && lower.compare(at - 2, 2, "pg") == 0) begin -= 2;
    if (begin == 0 || kBeforeName.find(lower[begin - 1]) != std::string_view::npos) return true;
  }
  return false;
}

/// What libpq would take for keyword=value pairs, or a path in which somebody gives a password.
bool is_connection_string(const std::string& location) {
  return scheme_of(location).empty() && (begins_with_keyword(location) || assigns_password(location));
}

/// Parts of scheme://user:password@host:port/database?name=value&…
struct Url {
  std::string scheme;
  std::string user;
  bool password = false;
  std::string rest;   ///< host, port and database
  std::string query;  ///< without parameters that may be secret
};

/// Parameters of a URL that may be shown.
constexpr std::array<const char*, 11> kHarmless{"host",
                                                "port",
                                                "user",
                                                "dbname",
                                                "sslmode",
                                                "sslrootcert",
                                                "target_session_attrs",
                                                "hostaddr",
                                                "service",
                                                "connect_timeout",
                                                "application_name"};

std::string harmless_query(const std::string& query, bool& password) {
  std::string out;
  for (std::size_t at = 0; at < query.size();) {
    const auto end = std::min(query.find('&', at), query.size());
    const std::string parameter = query.substr(at, end - at);
    const std::string name = parameter.substr(0, parameter.find('='));
    const bool harmless =
        std::any_of(kHarmless.begin(), kHarmless.end(), [&](const char* known) { return name == known; });
    // Percent signs may spell "password" too: what is not known to be harmless may be a secret.
    if (harmless) out += (out.empty() ? "?" : "&") + parameter;
    password = password || name.find("password") != std::string::npos || name.find('%') != std::string::npos;
    at = end + 1;
  }
  return out;
}

Url parse_url(const std::string& text) {
  Url url;
  url.scheme = scheme_of(text);
  std::string rest = text.substr(url.scheme.size() + 3);
  const auto who = rest.substr(0, rest.find_first_of("@/"));  // as libpq reads it
  const auto query = std::min(rest.find('?'), rest.size());
  harmless_query(rest.substr(query), url.password);
  url.password =
      url.password || (who.size() < rest.size() && rest[who.size()] == '@' && who.find(':') != std::string::npos);
  // A password that is not escaped as it should may hold '@', '/' or '?': what is shown begins after the last '@'.
  if (const auto at = rest.rfind('@'); at != std::string::npos) {
    url.user = rest.substr(0, rest.find_first_of(":@/?"));
    rest = rest.substr(at + 1);
  }
  if (const auto question = rest.find('?'); question != std::string::npos) {
    url.query = harmless_query(rest.substr(question + 1), url.password);
    rest.resize(question);
  }
  url.rest = rest;
  return url;
}

std::string without_secrets(const Url& url) {
  return url.scheme + "://" + (url.user.empty() ? "" : url.user + "@") + url.rest + url.query;
}

/// The first line of the file, which only its owner may read where it holds a password.
std::string read_location_file(const std::string& path) {
  struct stat status {};
  std::string line;
  try {
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) file_failed(EINVAL, "read", path);
    line = read_file(path, kLongestLocation);
  } catch (const FileError&) {
    fail(
        ErrorKind::usage,
        "--store @{}: there is no such file that can be read. Write the URL of the store into it, or use ./@NAME for a "
        "store whose name begins with @.",
        path);
  }
  line.resize(std::min(line.find('\n'), line.size()));
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.pop_back();
  if (line.empty() || line.size() > kLongestLocation || line[0] == '@') {
    fail(ErrorKind::usage, "--store @{}: its first line is not the location of a store. Write its path or URL there.",
         path);
  }
  if (has_password(line) && (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    fail(ErrorKind::usage, "--store @{}: it holds a password and others may read it. Run: chmod 600 {}", path, path);
  }
  return line;
}

/// A path that names the same file wherever it is said.
std::string absolute_path(const std::string& path) {
  std::error_code error;
  const auto whole = std::filesystem::weakly_canonical(path, error);
  return error ? std::filesystem::absolute(path, error).string() : whole.string();
}

}  // namespace

Location locate(const std::string& given) {
  if (given.empty()) fail(ErrorKind::usage, "store: its location is empty; use a file path or a postgresql:// URL.");
  if (given.find('\0') != std::string::npos) {
    fail(ErrorKind::usage, "store: {} holds a NUL byte, which no path can; use a file path.",
         shown(shown_location(given)));
  }
  const bool from_file = given[0] == '@';
  Location location;
  location.place = from_file ? read_location_file(given.substr(1)) : given;
  if (is_connection_string(location.place)) {
    fail(ErrorKind::usage,
         "store: what was given{} reads like pairs of keyword=value, which are not a location of a store. Write a URL: "
         "postgresql://USER@HOST:PORT/DATABASE?sslmode=require. Write ./NAME for a file whose name begins so.",
         from_file ? " in " + given.substr(1) : "");
  }
  const auto scheme = scheme_of(location.place);
  location.is_file = scheme.empty();
  location.shown = from_file ? given : shown_location(given);
  if (location.is_file) {
    location.identity = absolute_path(location.place);
    return location;
  }
  if (!is_server(scheme)) {
    fail(ErrorKind::usage,
         "store: {}:// is not a kind of store that Assay knows; use a file path or a postgresql:// URL.",
         shown(scheme));
  }
  location.identity = without_secrets(parse_url(location.place));
  return location;
}

std::string shown_location(const std::string& given) {
  if (is_connection_string(given)) return kNotShown;
  return scheme_of(given).empty() ? given : without_secrets(parse_url(given));
}

bool has_password(const std::string& word) {
  if (assigns_password(word)) return true;
  const auto url = std::min(word.find("postgresql://"), word.find("postgres://"));
  return url != std::string::npos && parse_url(word.substr(url)).password;
}

bool repeats_secret(const std::string& url, const std::string& text) {
  if (scheme_of(url).empty()) return false;
  const auto begin = url.find(':', url.find("://") + 3);
  const auto end = url.rfind('@');
  std::string secret = begin < end && end != std::string::npos ? url.substr(begin + 1, end - begin - 1) : "";
  if (const auto query = url.find('?', end == std::string::npos ? 0 : end); query != std::string::npos) {
    for (auto at = query; at != std::string::npos; at = url.find('&', at + 1)) {
      const auto parameter = url.substr(at + 1, url.find('&', at + 1) - at - 1);
      bool ignored = false;
      if (harmless_query(parameter, ignored).empty()) secret += '@' + parameter.substr(parameter.find('=') + 1);
    }
  }
  for (std::size_t at = 0; at < secret.size();) {
    const auto next = std::min(secret.find_first_of(":@/?&=#,", at), secret.size());
    if (next - at > 1 && text.find(secret.substr(at, next - at)) != std::string::npos) return true;
    at = next + 1;
  }
  return false;
}

}  // namespace assay::store
