#include "assay/plan/catalog/environment.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "assay/core/text/file.hpp"
#include "assay/plan/catalog/catalog.hpp"

namespace assay::plan {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 1u << 20;
constexpr JsonLimits kLimits{.bytes = kMostBytes, .depth = 16, .values = 10'000};

/// pip takes Foo_Bar, foo.bar and foo-bar for one name.
std::string normal_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool separates = c == '-' || c == '_' || c == '.';
    if (separates && !out.empty() && out.back() == '-') continue;
    out += separates ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

/// Where in a requirements file the release of a package stands.
struct Pin {
  std::size_t at = 0;
  std::size_t size = 0;
};

/// A line of a requirements file or a lock: NAME[EXTRAS] == RELEASE, and what follows.
struct Line {
  std::string_view text;  ///< without space at its ends
  std::string_view name;  ///< empty where it begins with none: options and comments
  std::optional<Pin> pin;
  std::string_view rest;  ///< of what follows the release
};

Line split(std::string_view line, std::size_t line_at) {
  Line out{line, {}, {}, {}};
  std::size_t at = 0;
  while (at < line.size() && is_name_part(line[at])) ++at;
  if (at == 0 || line[0] == '-') return out;
  out.name = line.substr(0, at);
  if (at < line.size() && line[at] == '[') at = std::min(line.find(']', at), line.size() - 1) + 1;
  while (at < line.size() && line[at] == ' ') ++at;
  if (line.substr(at, 2) != "==" || line.substr(at, 3) == "===") return out;
  at += 2;
  while (at < line.size() && line[at] == ' ') ++at;
  std::size_t last = at;
  while (last < line.size() && (is_name_part(line[last]) || line[last] == '+' || line[last] == '!')) ++last;
  out.rest = trimmed(line.substr(last));
  if (last > at) out.pin = Pin{line_at + at, last - at};
  return out;
}

std::vector<Line> split_lines(std::string_view text) {
  std::vector<Line> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = trimmed(text.substr(begin, end - begin));
    if (!line.empty()) out.push_back(split(line, static_cast<std::size_t>(line.data() - text.data())));
    begin = end + 1;
  }
  return out;
}

/// One release and no other: not the first part of a range, nor 2.*.
bool is_exact(const Line& line, std::string_view may_follow) {
  return line.pin && (line.rest.empty() || may_follow.find(line.rest[0]) != std::string_view::npos);
}

// A marker or a comment; in a lock also hashes, on the same line or the next.
constexpr std::string_view kAfterPin = ";#";
constexpr std::string_view kAfterLocked = ";#\\-";

[[noreturn]] void no_pin(const std::string& package, std::string_view line) {
  fail(ErrorKind::usage, "requirements: {} does not pin {}. Write {}==RELEASE on a line of its own.",
       line.empty() ? "the file" : shown(std::string(line)), package, package);
}

Pin find_pin(std::string_view text, const std::string& package) {
  const std::string wanted = normal_name(package);
  std::optional<Pin> pin;
  for (const auto& line : split_lines(text)) {
    if (line.name.empty() || normal_name(line.name) != wanted) continue;
    if (pin) fail(ErrorKind::usage, "requirements: {} is listed twice. Remove one of them.", package);
    if (!is_exact(line, kAfterPin)) no_pin(package, line.text);
    pin = line.pin;
  }
  if (!pin) no_pin(package, {});
  return *pin;
}

}  // namespace

fs::path environment_folder(const fs::path& root, const std::string& name, const std::string& release) {
  return root / (name + "-" + release);
}

std::string read_worker_file(const fs::path& file) {
  // A pipe or device of that name would block or never end.
  if (std::error_code ignored; !fs::is_regular_file(file, ignored)) {
    fail(ErrorKind::usage, "{}: it is not a regular file", file.string());
  }
  std::string text;
  try {
    text = read_file(file, kMostBytes);
  } catch (const FileError& error) {
    fail(ErrorKind::usage, "{}: it cannot be read: {}", file.string(), std::strerror(error.number()));
  }
  if (text.size() > kMostBytes) fail(ErrorKind::usage, "{}: it is longer than {} bytes", file.string(), kMostBytes);
  return text;
}

std::optional<Installed> read_installed(const fs::path& folder) {
  const fs::path file = folder / kInstalledFile;
  if (std::error_code ignored; !fs::exists(file, ignored)) return std::nullopt;
  return from_json<Installed>(parse_json(read_worker_file(file), kLimits), file.string());
}

std::vector<Installed> installed_environments(const fs::path& root, const std::string& name,
                                              std::vector<std::string>& problems) {
  std::vector<Installed> out;
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    const std::string folder = it->path().filename().string();
    if (!folder.starts_with(name + "-")) continue;
    try {
      auto installed = read_installed(it->path());
      // A folder that was moved does not work in its new place.
      if (!installed || installed->name != name || folder != name + "-" + installed->release) continue;
      out.push_back(std::move(*installed));
    } catch (const Error& broken) {
      problems.push_back(fmt::format("{}: {}", (it->path() / kInstalledFile).string(), broken.what()));
    }
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return older_release(a.release, b.release); });
  return out;
}

std::string pinned_release(std::string_view requirements, const std::string& package) {
  const Pin pin = find_pin(requirements, package);
  return std::string(requirements.substr(pin.at, pin.size));
}

std::string with_release(std::string_view requirements, const std::string& package, const std::string& release) {
  const Pin pin = find_pin(requirements, package);
  return std::string(requirements).replace(pin.at, pin.size, release);
}

std::vector<PinnedPackage> pinned_packages(std::string_view requirements) {
  std::vector<PinnedPackage> out;
  for (const auto& line : split_lines(requirements)) {
    if (!is_exact(line, kAfterLocked)) continue;
    out.push_back({normal_name(line.name), std::string(requirements.substr(line.pin->at, line.pin->size))});
  }
  return out;
}

std::string with_exact_pins(std::string_view requirements) {
  std::string out;
  std::size_t copied = 0;
  for (const auto& line : split_lines(requirements)) {
    if (!is_exact(line, kAfterLocked)) continue;
    const auto equals = requirements.rfind("==", line.pin->at - 1);
    out += requirements.substr(copied, equals - copied);
    out += '=';
    copied = equals;
  }
  out += requirements.substr(copied);
  return out;
}

bool is_build_of(const std::string& build, const std::string& release) {
  return build == release || build.starts_with(release + "+");
}

std::optional<std::string> find_build(const std::vector<PinnedPackage>& packages, const std::string& name,
                                      const std::string& release) {
  for (const auto& package : packages) {
    if (package.name == normal_name(name) && is_build_of(package.release, release)) return package.release;
  }
  return std::nullopt;
}

std::string lock_name(const std::string& requirements) {
  return fs::path(requirements).replace_extension(".lock").string();
}

std::optional<std::string> listed_release(const std::vector<std::string>& packages, const std::string& package) {
  for (const auto& entry : packages) {
    const auto equals = entry.find("==");
    if (equals != std::string::npos && normal_name(entry.substr(0, equals)) == normal_name(package)) {
      return entry.substr(equals + 2);
    }
  }
  return std::nullopt;
}

}  // namespace assay::plan
