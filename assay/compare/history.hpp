#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/trial.hpp"
#include "assay/stats/change_points/e_divisive.hpp"
#include "assay/store/store.hpp"

namespace assay::compare {

constexpr std::int64_t kHistoryVersion = 1;
constexpr std::size_t kFewestPoints = 8;  ///< below this a series is not judged by its points
constexpr std::size_t kFewestRuns = 6;    ///< of a release, to judge by single runs

/// What the points of a history are ordered by.
enum class Over {
  dates,     ///< a point is one campaign, in the order in which they were measured
  releases,  ///< a point is one release of the worker, all its campaigns together
};

}  // namespace assay::compare

template <>
struct assay::EnumNames<assay::compare::Over> {
  static constexpr std::array<const char*, 2> names{"dates", "releases"};
};

namespace assay::compare {

/// What was measured at one date or of one release.
struct HistoryPoint {
  std::string campaign;          ///< id; of several the first
  std::string trial;             ///< id
  std::string release;           ///< of the worker
  std::string started_utc;       ///< of the first run
  std::int64_t runs = 0;         ///< that succeeded
  std::int64_t untrusted = 0;    ///< of runs: disturbed and not measured again
  double median_ns = 0;          ///< median of the processes' medians
  std::optional<double> low_ns;  ///< its 95 % interval; null below 6 runs
  std::optional<double> high_ns;
  bool set_aside = false;  ///< an outlier among its neighbours: it takes no part in judging
};

template <typename V>
void describe(V& v, HistoryPoint& p) {
  required(v, "campaign", p.campaign);
  required(v, "trial", p.trial);
  required(v, "release", p.release);
  required(v, "started_utc", p.started_utc);
  required(v, "runs", p.runs);
  required(v, "untrusted", p.untrusted);
  required(v, "median_ns", p.median_ns);
  v("low_ns", p.low_ns);
  v("high_ns", p.high_ns);
  required(v, "set_aside", p.set_aside);
}

/// From one point on, times are longer or shorter than before.
struct HistoryChange {
  std::int64_t first = 0;   ///< index of the first point of the new level
  std::int64_t before = 0;  ///< index of the last point of the old one
  double ratio = 1;         ///< new over old time: 1.04 is 4 % slower
  double low = 1;           ///< its 95 % interval
  double high = 1;
  double p = 1;
};

template <typename V>
void describe(V& v, HistoryChange& c) {
  required(v, "first", c.first);
  required(v, "before", c.before);
  required(v, "ratio", c.ratio);
  required(v, "low", c.low);
  required(v, "high", c.high);
  required(v, "p", c.p);
}

/// Points that can be compared: trials equal in workload, worker, settings and placement, on one platform. Over dates
/// their release is the same too.
struct HistorySeries {
  Trial trial;  ///< over releases: of the newest point
  std::string platform;
  std::vector<HistoryPoint> points;    ///< oldest first
  std::vector<HistoryChange> changes;  ///< in order
  bool by_runs = false;  ///< judged by single runs: releases that are few, but were measured in turns in one campaign
  std::int64_t missing = 0;  ///< points that it would take to judge the series; 0 where it was judged
};

template <typename V>
void describe(V& v, HistorySeries& s) {
  required(v, "trial", s.trial);
  required(v, "platform", s.platform);
  required(v, "points", s.points);
  required(v, "changes", s.changes);
  required(v, "by_runs", s.by_runs);
  required(v, "missing", s.missing);
}

/// What `assay history --json` prints, docs/formats/history.schema.json.
struct History {
  std::int64_t history_version = kHistoryVersion;
  Over over = Over::dates;
  double least = 0.02;  ///< changes of a smaller share are not told
  std::vector<HistorySeries> series;
};

template <typename V>
void describe(V& v, History& h) {
  required(v, "history_version", h.history_version);
  required(v, "over", h.over);
  required(v, "least", h.least);
  required(v, "series", h.series);
}

/// Chooses what a history is made of; an empty field chooses all.
struct HistoryRequest {
  Over over = Over::dates;
  double least = 0.02;
  std::string network{};
  std::string worker{};     ///< by its name
  std::string release{};    ///< of the worker
  std::string trial{};      ///< the first digits of an id; over releases: the series that it belongs to
  std::string since_utc{};  ///< runs that began earlier are left out; RFC 3339, or the beginning of it
};

/// Series in the order of their first trial; rows that gave no number, or of other trials, are passed over.
History history_of(const std::vector<store::TrialRow>& trials, const std::vector<store::RunRow>& rows,
                   const HistoryRequest& request);

/// The history of what a request chooses from a store. Reads no samples.
History read_history(store::Store& store, const HistoryRequest& request);

/// Outliers and levels of a series of times.
struct Levels {
  std::vector<bool> set_aside;
  std::vector<stats::ChangePoint> changes;  ///< of the logarithms; indexes are those of the times
};

/// Of positive times, oldest first. A level begins at one of `starts`; where there are none, anywhere.
Levels levels_of(const std::vector<double>& times, double least, const std::vector<std::size_t>& starts = {});

/// The newest change, where it made things slower: nothing has made up for it since. Null otherwise.
const HistoryChange* standing_slowdown(const HistorySeries& series);

}  // namespace assay::compare
