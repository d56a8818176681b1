#include "assay/report/results/result.hpp"

#include <algorithm>
#include <utility>

#include "assay/report/results/generated.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::report {
namespace {

std::optional<double> median_or_null(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return stats::median(values);
}

template <typename T>
void add(std::vector<double>& values, const std::optional<T>& value) {
  if (value) values.push_back(static_cast<double>(*value));
}

/// Medians of the good runs in the order of time.
std::vector<double> medians_in_time(std::vector<const store::RunRow*> rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto* a, const auto* b) { return a->started_utc < b->started_utc; });
  std::vector<double> medians;
  for (const auto* row : rows) {
    if (row->outcome == OutcomeKind::ok) add(medians, row->summary.median_ns);
  }
  return medians;
}

/// The runs that numbers rest on: without the disturbed ones, as long as enough others are left. Enough is what an
/// interval needs where there are that many runs at all, else one.
std::vector<const store::RunRow*> worth_counting(const std::vector<const store::RunRow*>& ok, double confidence) {
  std::vector<const store::RunRow*> undisturbed;
  for (const auto* row : ok) {
    if (row->trusted) undisturbed.push_back(row);
  }
  const auto for_interval = stats::fewest_for_interval(confidence);
  const auto needed = ok.size() >= for_interval ? for_interval : 1;
  return undisturbed.size() >= needed ? undisturbed : ok;
}

using RowsOfTrials = std::map<std::string, std::map<std::string, std::vector<const store::RunRow*>>>;

/// A trial of which every run is still to be measured again has the disturbed ones, which say so, rather than nothing.
void add_set_aside(const std::vector<store::RunRow>& rows, RowsOfTrials& groups) {
  RowsOfTrials set_aside;
  for (const auto& row : rows) {
    const bool gave_number = !row.counted && row.outcome == OutcomeKind::ok && !row.trusted;
    if (gave_number && groups.count(row.trial) == 0) set_aside[row.trial][row.platform].push_back(&row);
  }
  groups.merge(set_aside);
}

Result result_of(const store::TrialRow& trial, const std::string& platform,
                 const std::vector<const store::RunRow*>& rows, double confidence) {
  Result result;
  result.trial_id = trial.id;
  result.trial = trial.trial;
  result.platform = platform;
  std::vector<const store::RunRow*> ok;
  for (const auto* row : rows) {
    ++result.runs;
    if (row->outcome != OutcomeKind::ok) {
      auto& failures = result.failures[row->outcome];
      if (failures.runs++ == 0) failures.message = row->message;
      continue;
    }
    if (!row->trusted) ++result.untrusted;
    ok.push_back(row);
  }
  result.ok = std::ssize(ok);
  const auto counted = worth_counting(ok, confidence);
  result.left_out = std::ssize(ok) - std::ssize(counted);
  std::vector<double> medians;
  std::vector<const Summary*> summaries;
  std::vector<double> rates;
  std::vector<double> watts;
  std::vector<double> per_joule;
  std::vector<const store::Digest*> digests;
  for (const auto* row : counted) {
    digests.push_back(&row->digest);
    add(medians, row->summary.median_ns);
    summaries.push_back(&row->summary);
    add(rates, row->summary.samples_per_second);
    add(watts, row->summary.watts);
    add(per_joule, row->summary.samples_per_joule);
  }
  result.median_ns = median_or_null(medians);
  result.p90 = tail_quantile(summaries, TailPercent::p90, confidence);
  result.p99 = tail_quantile(summaries, TailPercent::p99, confidence);
  result.samples_per_second = median_or_null(rates);
  result.generated = generated_of(summaries);
  result.watts = median_or_null(watts);
  result.samples_per_joule = median_or_null(per_joule);
  result.run_medians_ns = medians_in_time(rows);
  std::vector<const store::Digest*> all_digests;  // what disturbed a run is told, whether it counts or not
  for (const auto* row : ok) all_digests.push_back(&row->digest);
  result.details = summarise(all_digests);
  result.details.phases = phases_of(digests, result.median_ns);
  result.median_interval = stats::median_interval(medians, confidence);
  if (!result.median_interval) {
    result.interval_reason =
        fmt::format("{} good runs; a 95 % interval needs {}", medians.size(), stats::fewest_for_interval(confidence));
  }
  return result;
}

}  // namespace

std::string disturbed_text(const Result& result) {
  if (result.untrusted == 0) return "";
  return fmt::format(" ({} disturbed{})", result.untrusted, result.left_out > 0 ? ", left out" : "");
}

std::vector<Result> results_of(const std::vector<store::TrialRow>& trials, const std::vector<store::RunRow>& rows,
                               double confidence) {
  RowsOfTrials groups;
  for (const auto& row : rows) {
    if (row.counted) groups[row.trial][row.platform].push_back(&row);
  }
  add_set_aside(rows, groups);
  std::vector<Result> results;
  for (const auto& trial : trials) {
    const auto it = groups.find(trial.id);
    if (it == groups.end()) continue;
    for (const auto& [platform, members] : it->second) {
      results.push_back(result_of(trial, platform, members, confidence));
    }
  }
  return results;
}

std::vector<Result> results_of(store::Archive& store, const store::Filter& filter) {
  return results_of(store.trials(filter), store.runs(filter));
}

}  // namespace assay::report
