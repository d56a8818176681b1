#include "assay/compare/history.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "assay/compare/runs.hpp"
#include "assay/compare/selector.hpp"
#include "assay/plan/catalog/catalog.hpp"
#include "assay/stats/hampel.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::compare {
namespace {

/// Trials of one history have the same id when what may differ in it is left out.
std::string series_id(Trial trial, Over over) {
  if (over == Over::releases) trial.worker.release.clear();
  if (over == Over::dates && is_own_code(trial.workload)) trial.workload.graph.reset();
  return trial_id(trial);
}

/// The runs that make up one point.
struct PointRuns {
  const store::TrialRow* trial;
  std::vector<const store::RunRow*> rows;
};

/// Runs of one series on one platform: by campaign over dates, by trial (a release each) over releases.
using SeriesRuns = std::map<std::string, PointRuns>;

HistoryPoint point_of(PointRuns point) {
  auto& rows = point.rows;
  std::sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->started_utc < b->started_utc; });
  HistoryPoint out;
  out.campaign = rows.front()->campaign;
  out.trial = point.trial->id;
  out.release = point.trial->trial.worker.release;
  out.started_utc = rows.front()->started_utc;
  std::vector<double> medians;
  for (const auto* row : rows) {
    medians.push_back(static_cast<double>(*row->summary.median_ns));
    out.untrusted += row->trusted ? 0 : 1;
  }
  out.runs = static_cast<std::int64_t>(medians.size());
  out.median_ns = stats::median(medians);
  if (const auto interval = stats::median_interval(medians)) {
    out.low_ns = interval->low;
    out.high_ns = interval->high;
  }
  return out;
}

HistoryChange change_between(std::size_t before, std::size_t first, const stats::ChangePoint& change) {
  return {
      static_cast<std::int64_t>(first),         static_cast<std::int64_t>(before),         std::exp(change.difference),
      std::exp(change.difference_interval.low), std::exp(change.difference_interval.high), change.p};
}

void judge_points(HistorySeries& series, double least) {
  std::vector<double> times;
  for (const auto& point : series.points) times.push_back(point.median_ns);
  const auto levels = levels_of(times, least);
  for (std::size_t i = 0; i < series.points.size(); ++i) series.points[i].set_aside = levels.set_aside[i];
  for (const auto& change : levels.changes) {
    std::size_t before = change.index - 1;
    while (before > 0 && levels.set_aside[before]) --before;
    series.changes.push_back(change_between(before, change.index, change));
  }
}

/// The runs of each point in campaigns that measured all points of the series: those took turns, so that whatever the
/// machine did met all alike. Empty where a point has fewer than kFewestRuns of them.
std::vector<std::vector<double>> runs_in_turns(const HistorySeries& series, const SeriesRuns& runs) {
  std::map<std::string, std::set<std::string>> points_of;  // by campaign
  for (const auto& [key, point] : runs) {
    for (const auto* row : point.rows) points_of[row->campaign].insert(key);
  }
  std::vector<std::vector<double>> out;
  for (const auto& point : series.points) {
    auto& times = out.emplace_back();
    for (const auto* row : runs.at(point.trial).rows) {
      if (points_of.at(row->campaign).size() < series.points.size()) continue;
      times.push_back(static_cast<double>(*row->summary.median_ns));
    }
    if (times.size() < kFewestRuns) return {};
  }
  return out;
}

void judge_runs(HistorySeries& series, const std::vector<std::vector<double>>& runs, double least) {
  std::vector<double> times;
  std::vector<std::size_t> starts;
  for (const auto& of_point : runs) {
    starts.push_back(times.size());
    times.insert(times.end(), of_point.begin(), of_point.end());
  }
  series.by_runs = true;
  for (const auto& change : levels_of(times, least, starts).changes) {
    // An outlier may stand where the level begins, so the point is the one that the first run kept belongs to.
    const auto next = std::upper_bound(starts.begin(), starts.end(), change.index);
    const auto first = static_cast<std::size_t>(next - starts.begin()) - 1;
    series.changes.push_back(change_between(first - 1, first, change));
  }
}

HistorySeries series_of(const std::string& platform, const SeriesRuns& runs, const HistoryRequest& request) {
  HistorySeries out;
  out.platform = platform;
  for (const auto& [key, point] : runs) out.points.push_back(point_of(point));
  std::sort(out.points.begin(), out.points.end(), [&](const HistoryPoint& a, const HistoryPoint& b) {
    if (request.over == Over::releases) return plan::older_release(a.release, b.release);
    return std::tie(a.started_utc, a.campaign) < std::tie(b.started_utc, b.campaign);
  });
  out.trial = (request.over == Over::releases ? runs.at(out.points.back().trial) : runs.begin()->second).trial->trial;
  if (out.points.size() >= kFewestPoints) {
    judge_points(out, request.least);
    return out;
  }
  if (request.over == Over::releases && out.points.size() > 1) {
    if (const auto turns = runs_in_turns(out, runs); !turns.empty()) {
      judge_runs(out, turns, request.least);
      return out;
    }
  }
  out.missing = static_cast<std::int64_t>(kFewestPoints - out.points.size());
  return out;
}

/// The trials that are asked for; over releases with every other release of them.
std::vector<store::TrialRow> chosen_trials(store::Store& store, const HistoryRequest& request) {
  auto trials = store.trials({.network = request.network});
  std::erase_if(trials, [&](const auto& row) {
    const auto& worker = row.trial.worker;
    return (!request.worker.empty() && worker.name != request.worker) ||
           (!request.release.empty() && worker.release != request.release);
  });
  if (request.trial.empty()) return trials;
  std::vector<std::string> wanted;
  for (const auto& row : trials) {
    if (row.id.starts_with(request.trial)) wanted.push_back(series_id(row.trial, request.over));
  }
  std::erase_if(trials, [&](const auto& row) {
    return std::find(wanted.begin(), wanted.end(), series_id(row.trial, request.over)) == wanted.end();
  });
  return trials;
}

}  // namespace

History history_of(const std::vector<store::TrialRow>& trials, const std::vector<store::RunRow>& rows,
                   const HistoryRequest& request) {
  std::vector<std::map<std::string, SeriesRuns>> all;  // a series each, by platform
  std::unordered_map<std::string, std::size_t> known;
  std::unordered_map<std::string, std::pair<const store::TrialRow*, std::size_t>> place;  // of a trial
  for (const auto& trial : trials) {
    const auto found = known.emplace(series_id(trial.trial, request.over), all.size());
    if (found.second) all.emplace_back();
    place[trial.id] = {&trial, found.first->second};
  }
  for (const auto& row : rows) {
    const auto it = place.find(row.trial);
    if (it == place.end() || !row.counted || !gave_time(row) || row.started_utc < request.since_utc) continue;
    const auto [trial, series] = it->second;
    auto& point = all[series][row.platform][request.over == Over::dates ? row.campaign : row.trial];
    point.trial = trial;
    point.rows.push_back(&row);
  }
  History out;
  out.over = request.over;
  out.least = request.least;
  for (const auto& platforms : all) {
    for (const auto& [platform, runs] : platforms) out.series.push_back(series_of(platform, runs, request));
  }
  return out;
}

History read_history(store::Store& store, const HistoryRequest& request) {
  const auto trials = chosen_trials(store, request);
  std::vector<store::RunRow> rows;
  for (const auto& trial : trials) {
    auto runs = store.runs({.trial = trial.id});
    std::move(runs.begin(), runs.end(), std::back_inserter(rows));
  }
  return history_of(trials, rows, request);
}

Levels levels_of(const std::vector<double>& times, double least, const std::vector<std::size_t>& starts) {
  std::vector<double> logs;
  for (const double time : times) logs.push_back(std::log(time));
  Levels out;
  // What is nearer to its neighbours than half of what is told does no harm.
  stats::HampelRule outliers;
  outliers.least = std::log1p(least) / 2;
  out.set_aside = stats::hampel_outliers(logs, outliers);
  std::vector<double> kept;
  std::vector<std::size_t> indexes;
  stats::ChangeRule changes;
  changes.least = std::log1p(least);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (std::binary_search(starts.begin(), starts.end(), i)) changes.starts.push_back(kept.size());
    if (out.set_aside[i]) continue;
    kept.push_back(logs[i]);
    indexes.push_back(i);
  }
  out.changes = stats::change_points(kept, changes);
  for (auto& change : out.changes) change.index = indexes[change.index];
  return out;
}

const HistoryChange* standing_slowdown(const HistorySeries& series) {
  if (series.changes.empty() || series.changes.back().ratio <= 1) return nullptr;
  return &series.changes.back();
}

}  // namespace assay::compare
