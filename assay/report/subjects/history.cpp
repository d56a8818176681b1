#include "assay/report/subjects/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/core/text/units.hpp"
#include "assay/report/table.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::report {
namespace {

using compare::HistoryChange;
using compare::HistoryPoint;
using compare::HistorySeries;
using compare::Over;

constexpr std::size_t kMostNamed = 5;      // outliers; the others are in the JSON
constexpr std::size_t kMostUnjudged = 10;  // series; a store may hold hundreds that were measured once

std::string short_id(const std::string& id) {
  return id.substr(0, 8);
}

/// The day, which is what a person looks for.
std::string day_of(const HistoryPoint& point) {
  return point.started_utc.substr(0, 10);
}

std::string title_of(const HistorySeries& series, Over over) {
  if (over == Over::dates) return title(series.trial);
  Trial trial = series.trial;
  trial.worker.release = "releases";
  return title(trial);
}

/// "release 1.24.4" or "2026-11-02".
std::string place_of(const HistoryPoint& point, Over over) {
  return over == Over::releases ? "release " + point.release : day_of(point);
}

std::string measured_in(const HistoryPoint& point) {
  return fmt::format("campaign {} of {}", short_id(point.campaign), day_of(point));
}

/// How much slower or faster, as a share that is never negative.
std::string size_of(const HistoryChange& change) {
  const bool slower = change.ratio > 1;
  // Of a change for the better the ends trade places, as 0.95 is 5 % faster and 0.97 only 3 %.
  const double low = std::abs((slower ? change.low : change.high) - 1);
  const double high = std::abs((slower ? change.high : change.low) - 1);
  return fmt::format("{} by {:.1f} % ({:.1f} to {:.1f})", slower ? "slower" : "faster",
                     100 * std::abs(change.ratio - 1), 100 * low, 100 * high);
}

std::string change_line(const HistorySeries& series, const HistoryChange& change, Over over) {
  const auto& first = series.points.at(static_cast<std::size_t>(change.first));
  const auto& before = series.points.at(static_cast<std::size_t>(change.before));
  return fmt::format("{} from {} on (before: {}); first {}: {}", size_of(change), place_of(first, over),
                     over == Over::releases ? before.release : measured_in(before), change.ratio > 1 ? "bad" : "good",
                     measured_in(first));
}

/// "2 points set aside as outliers: 2026-10-03 (+31 %), 2026-10-09 (+18 %)"; empty where there are none.
std::string set_aside_line(const HistorySeries& series, Over over) {
  std::vector<double> kept;
  for (const auto& point : series.points) {
    if (!point.set_aside) kept.push_back(point.median_ns);
  }
  std::string named;
  std::size_t count = 0;
  for (const auto& point : series.points) {
    if (!point.set_aside || ++count > kMostNamed) continue;
    named += fmt::format("{}{} in campaign {} ({:+.0f} %)", named.empty() ? "" : ", ", place_of(point, over),
                         short_id(point.campaign), 100 * (point.median_ns / stats::median(kept) - 1));
  }
  if (count == 0) return "";
  if (count > kMostNamed) named += fmt::format(" and {} more", count - kMostNamed);
  return fmt::format("{} set aside as {}: {}", count == 1 ? "1 point" : fmt::format("{} points", count),
                     count == 1 ? "an outlier" : "outliers", named);
}

std::string missing_text(const HistorySeries& series, Over over) {
  const std::string have = fmt::format("{} of {} points that it takes to judge; measure {} more", series.points.size(),
                                       compare::kFewestPoints, series.missing);
  if (over == Over::dates) return have + " rounds, each with `assay run … --again`";
  return fmt::format("{} releases, or all of them in one campaign of {} runs or more", have, compare::kFewestRuns);
}

std::string no_change_text(const HistorySeries& series, double least) {
  return fmt::format("no change of {:.3g} % or more in {} {}", 100 * least, series.points.size(),
                     series.by_runs ? "releases, judged by runs that were measured in turns" : "points");
}

/// "1 ms to 1.04 ms": where the level was in the beginning and is now is in the changes; this is the curve's range.
std::string range_text(const std::vector<double>& medians) {
  const auto [low, high] = std::minmax_element(medians.begin(), medians.end());
  return fmt::format("{} to {}", format_duration(*low), format_duration(*high));
}

void add_series(const HistorySeries& series, const compare::History& history, Document& out) {
  std::vector<double> medians;
  for (const auto& point : series.points) medians.push_back(point.median_ns);
  out.paragraph(fmt::format("{} (platform {})", fit(title_of(series, history.over), 200), short_id(series.platform)));
  out.add(Curve{medians, fmt::format("{} {}, {}", medians.size(), medians.size() == 1 ? "point" : "points",
                                     range_text(medians))});
  if (series.missing > 0) return out.item(missing_text(series, history.over));
  for (const auto& change : series.changes) {
    out.item(change_line(series, change, history.over), 1, change.ratio > 1 ? Tone::bad : Tone::good);
  }
  if (series.changes.empty()) out.item(no_change_text(series, history.least));
  if (const auto aside = set_aside_line(series, history.over); !aside.empty()) out.item(aside);
}

/// Everything that is known of a series, for the detail of a check.
std::string all_changes(const HistorySeries& series, Over over) {
  std::string out;
  for (const auto& change : series.changes) out += change_line(series, change, over) + "\n";
  return out + set_aside_line(series, over);
}

}  // namespace

Document history_document(const compare::History& history) {
  Document out;
  std::size_t unjudged = 0;
  for (const auto& series : history.series) {
    if (series.missing == 0 || ++unjudged <= kMostUnjudged) add_series(series, history, out);
  }
  if (unjudged > kMostUnjudged) {
    out.paragraph(
        fmt::format("{} more series have too few points to be judged; --json has them, --network and --trial choose.",
                    unjudged - kMostUnjudged));
  }
  return out;
}

std::vector<Check> history_checks(const compare::History& history) {
  std::vector<Check> out;
  for (const auto& series : history.series) {
    Check check;
    check.group = "assay history";
    check.name = fmt::format("{} (platform {})", title_of(series, history.over), short_id(series.platform));
    if (series.missing > 0) {
      check.message = missing_text(series, history.over);
    } else {
      const auto* slowdown = compare::standing_slowdown(series);
      check.status = slowdown != nullptr ? CheckStatus::failed : CheckStatus::passed;
      check.message = series.changes.empty() ? no_change_text(series, history.least)
                                             : change_line(series, series.changes.back(), history.over);
      check.detail = all_changes(series, history.over);
    }
    out.push_back(std::move(check));
  }
  return out;
}

compare::Alert history_alert(const compare::History& history, const std::string& store) {
  compare::Alert alert;
  alert.store = store;
  alert.over = history.over;
  for (const auto& series : history.series) {
    const auto* change = compare::standing_slowdown(series);
    if (change == nullptr) continue;
    compare::AlertedSeries one;
    one.title = fmt::format("{} (platform {})", title_of(series, history.over), short_id(series.platform));
    one.message = change_line(series, *change, history.over);
    one.platform = series.platform;
    one.ratio = change->ratio;
    one.low = change->low;
    one.high = change->high;
    one.before = series.points.at(static_cast<std::size_t>(change->before));
    one.first = series.points.at(static_cast<std::size_t>(change->first));
    one.trial = one.first.trial;
    alert.slowdowns.push_back(std::move(one));
  }
  std::stable_sort(alert.slowdowns.begin(), alert.slowdowns.end(),
                   [](const auto& a, const auto& b) { return a.ratio > b.ratio; });
  return alert;
}

}  // namespace assay::report
