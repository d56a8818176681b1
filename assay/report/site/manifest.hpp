#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay::report::site {

constexpr std::int64_t kSiteVersion = 1;

/// The newest change of level of a series on one machine.
struct KnownChange {
  std::string since_utc;  ///< when the first run of the new level began
  std::string campaign;   ///< id of the first campaign of the new level
  double ratio = 1;       ///< new over old time
  double low = 1;         ///< its 95 % interval
  double high = 1;
};

template <typename V>
void describe(V& v, KnownChange& c) {
  required(v, "since_utc", c.since_utc);
  required(v, "campaign", c.campaign);
  required(v, "ratio", c.ratio);
  required(v, "low", c.low);
  required(v, "high", c.high);
}

/// Where a series stands on one machine: what other pages say of it.
struct SeriesStanding {
  std::string platform;
  std::string newest_utc;           ///< empty where no run gave a time; so the next
  std::optional<double> median_ns;  ///< of the newest campaign
  std::int64_t points = 0;          ///< campaigns that measured it
  std::optional<KnownChange> change;
};

template <typename V>
void describe(V& v, SeriesStanding& s) {
  required(v, "platform", s.platform);
  required(v, "newest_utc", s.newest_utc);
  v("median_ns", s.median_ns);
  required(v, "points", s.points);
  v("change", s.change);
}

/// A file of the site, and what it was made from.
struct PageEntry {
  std::string path;       ///< within the folder
  std::string made_from;  ///< hash over what it shows; empty where it is made each time
  std::string content;    ///< hash of its bytes
  std::int64_t bytes = 0;
  std::string title = {};       ///< empty: no page that is searched for
  std::string note = {};        ///< what lists say beside the title
  std::string newest_utc = {};  ///< of what it shows
  std::vector<SeriesStanding> standings = {};
};

template <typename V>
void describe(V& v, PageEntry& p) {
  required(v, "path", p.path);
  v("made_from", p.made_from);
  required(v, "content", p.content);
  required(v, "bytes", p.bytes);
  v("title", p.title);
  v("note", p.note);
  v("newest_utc", p.newest_utc);
  v("standings", p.standings);
}

/// Every file of a site, by its path. As text it has a line of JSON for each, after one that says the version.
using Manifest = std::map<std::string, PageEntry>;

std::string manifest_text(const Manifest& manifest);

/// Throws Error{bad_input} where a line is too long or is not what manifest_text() writes, or names a path that a site
/// does not have: what it names may be removed.
Manifest parse_manifest(std::string_view text);

/// Whether a site may have a file of this name: "index.html", "series/1a2b….html", and nothing that leads elsewhere.
bool is_site_path(std::string_view path);

}  // namespace assay::report::site
