#include "assay/core/settings.hpp"

#include <algorithm>
#include <cctype>

namespace assay {
namespace {

constexpr std::int64_t kMostThreads = 65536;
constexpr std::int64_t kMostPrefillTokens = 1 << 20;
constexpr std::int64_t kMostBucketBytes = std::int64_t{1} << 40;

void check_range(const char* name, const std::optional<std::int64_t>& value, std::int64_t low, std::int64_t high) {
  if (value && (*value < low || *value > high)) {
    fail(ErrorKind::usage, "settings.{}: {} is outside {} to {}.", name, *value, low, high);
  }
}

bool looks_secret(const std::string& name) {
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  for (const char* word : {"PASSWORD", "PASSWD", "PASSPHRASE", "PGPASS", "SECRET", "CREDENTIAL", "PRIVATE_KEY",
                           "APIKEY", "API_KEY", "ACCESS_KEY", "AUTHORIZATION"}) {
    if (upper.find(word) != std::string::npos) return true;
  }
  for (const char* end : {"_KEY", "_PASS", "_PWD", "_PAT", "_JWT"}) {
    if (upper.ends_with(end)) return true;
  }
  // HF_TOKEN is a secret, TOKENIZERS_PARALLELISM is not: the word must end there.
  for (auto at = upper.find("TOKEN"); at != std::string::npos; at = upper.find("TOKEN", at + 1)) {
    if (at + 5 == upper.size() || upper[at + 5] == '_') return true;
  }
  return false;
}

/// Whether a value holds a URL with a password, as scheme://user:password@host.
bool holds_password(const std::string& value) {
  for (auto at = value.find("://"); at != std::string::npos; at = value.find("://", at + 3)) {
    const auto end = value.find_first_of("@/", at + 3);
    if (end == std::string::npos || value[end] == '/') continue;
    if (value.find(':', at + 3) < end) return true;
  }
  return false;
}

void check_variable(const std::string& name, const std::string& value) {
  const bool well_formed =
      !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (!well_formed) {
    fail(ErrorKind::usage, "settings.env: {} is not a valid variable name. Use letters, digits and _.", shown(name));
  }
  if (looks_secret(name) || holds_password(value)) {
    fail(ErrorKind::usage,
         "settings.env.{}: this looks like a secret, and settings are stored with every record. "
         "Let the worker read it from a file instead.",
         name);
  }
  if (name.rfind("ASSAY_", 0) == 0 && name.rfind("ASSAY_FAKE_", 0) != 0) {
    fail(ErrorKind::usage, "settings.env.{}: names that begin with ASSAY_ belong to Assay itself.", name);
  }
  if (value.find('\0') != std::string::npos)
    fail(ErrorKind::usage, "settings.env.{}: its value holds a zero byte.", name);
  if (value.size() > 4096) fail(ErrorKind::usage, "settings.env.{}: its value is longer than 4096 bytes.", name);
}

}  // namespace

void check(const Settings& s) {
  check_range("instances", s.instances, 1, 1024);
  check_range("inter_op", s.inter_op, 1, kMostThreads);
  check_range("intra_op", s.intra_op, 1, kMostThreads);
  check_range("library_threads", s.library_threads, 1, kMostThreads);
  check_range("prefill_threads", s.prefill_threads, 1, kMostThreads);
  check_range("prefill_tokens", s.prefill_tokens, 1, kMostPrefillTokens);
  check_range("loaders", s.loaders, 0, kMostThreads);
  check_range("prefetch", s.prefetch, 0, kMostThreads);
  check_range("bucket_bytes", s.bucket_bytes, 1, kMostBucketBytes);
  for (const auto& [name, value] : s.env) check_variable(name, value);
}

std::string title(const Settings& settings) {
  std::string out;
  const json fields = to_json(settings);  // named: items() of a temporary would dangle
  for (const auto& [name, value] : fields.items()) {
    if (value.is_null() || name == "env") continue;
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, plain_text(value));
  }
  for (const auto& [name, value] : settings.env) out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, value);
  return out.empty() ? "default" : out;
}

template json to_json_value<Settings>(const Settings&);
template void from_json_value<Settings>(const json&, const std::string&, Settings&);

}  // namespace assay
