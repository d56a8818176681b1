#include "assay/report/site/manifest.hpp"

#include <algorithm>

#include "assay/core/version.hpp"

namespace assay::report::site {
namespace {

constexpr std::size_t kMostLineBytes = 1u << 20;
constexpr const char* kWhat = "manifest.jsonl";

bool all_of_kind(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

void check_first_line(const json& line) {
  const auto version = line.is_object() ? line.value("site_version", json()) : json();
  if (!version.is_number_integer()) fail(ErrorKind::bad_input, "{}: its first line has no site_version.", kWhat);
  if (version.get<std::int64_t>() > kSiteVersion) {
    fail(ErrorKind::bad_input, "{}: the site was written by a newer Assay (version {}; this program knows {}).", kWhat,
         version.get<std::int64_t>(), kSiteVersion);
  }
}

}  // namespace

bool is_site_path(std::string_view path) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
  constexpr std::string_view kName = "abcdefghijklmnopqrstuvwxyz0123456789-";
  const auto slash = path.find('/');
  if (slash != std::string_view::npos && !all_of_kind(path.substr(0, slash), kLetters)) return false;
  const auto file = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const auto dot = file.find('.');
  if (dot == std::string_view::npos || dot > 80 || !all_of_kind(file.substr(0, dot), kName)) return false;
  const auto ending = file.substr(dot);
  return ending == ".html" || ending == ".js" || ending == ".css";
}

std::string manifest_text(const Manifest& manifest) {
  std::string out = json{{"site_version", kSiteVersion}, {"assay_version", kVersion}}.dump() + "\n";
  for (const auto& [path, page] : manifest)
    out += to_json(page).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  return out;
}

Manifest parse_manifest(std::string_view text) {
  Manifest out;
  bool first = true;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = parse_json(text.substr(0, end), {.bytes = kMostLineBytes});
    text.remove_prefix(std::min(end + 1, text.size()));
    if (first) {
      check_first_line(line);
      first = false;
      continue;
    }
    auto page = from_json<PageEntry>(line, kWhat);
    if (!is_site_path(page.path))
      fail(ErrorKind::bad_input, "{}: {} is not a page of a site.", kWhat, shown(page.path));
    auto path = page.path;
    out.insert_or_assign(std::move(path), std::move(page));
  }
  if (first) fail(ErrorKind::bad_input, "{} is empty.", kWhat);
  return out;
}

}  // namespace assay::report::site
