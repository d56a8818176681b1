#include <algorithm>
#include <map>

#include "assay/core/text/utf8.hpp"
#include "assay/report/pictures/naming.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostOfAKind = 500;
constexpr std::size_t kMostProbes = 400;

using Place = std::pair<std::string, std::string>;  ///< trial, platform

/// Medians over the runs of each key.
template <typename Key>
std::map<Key, double> medians(const std::map<Key, std::vector<double>>& values) {
  std::map<Key, double> out;
  for (const auto& [key, all] : values) out[key] = stats::median(all);
  return out;
}

std::string reason_codes(const store::RunRow& row) {
  std::string text;
  for (const auto& reason : row.digest.reasons) text += (text.empty() ? "" : ", ") + reason.code;
  return text;
}

/// Runs as they were measured, in time.
std::vector<const store::RunRow*> in_order(const std::vector<store::RunRow>& runs) {
  std::vector<const store::RunRow*> order;
  for (const auto& row : runs) order.push_back(&row);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->started_utc < b->started_utc; });
  return order;
}

void thin(Series& series, std::size_t most) {
  if (series.marks.size() <= most) return;
  std::vector<Mark> some;
  for (const auto i : spread(series.marks.size(), most)) some.push_back(std::move(series.marks[i]));
  series.marks = std::move(some);
}

struct Kinds {
  Series trusted{.name = "undisturbed", .kind = SeriesKind::dots, .colour = 0};
  Series disturbed{.name = "disturbed, counted", .kind = SeriesKind::dots, .colour = 1};
  Series again{.name = "disturbed, measured again", .kind = SeriesKind::dots, .colour = 2};
  Series failed{.name = "failed", .kind = SeriesKind::dots, .colour = 3};
  Series probe{.name = "speed probe of the machine", .kind = SeriesKind::line, .colour = 7, .dashed = true};
};

/// Numbers of the whole strip, told before marks are thinned.
std::string honesty(const Kinds& kinds, std::size_t runs, const std::map<std::string, std::size_t>& reasons) {
  const auto n = [](const Series& series) { return series.marks.size(); };
  if (n(kinds.disturbed) + n(kinds.again) + n(kinds.failed) == 0) {
    return fmt::format("None of {} runs was disturbed.", runs);
  }
  auto text =
      fmt::format("Of {} runs {} were disturbed: {} were measured again and do not count, {} count. {} failed.", runs,
                  n(kinds.disturbed) + n(kinds.again), n(kinds.again), n(kinds.disturbed), n(kinds.failed));
  const auto most = std::max_element(reasons.begin(), reasons.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != reasons.end()) text += fmt::format(" The reason met most often: {}.", most->first);
  return text;
}

}  // namespace

std::vector<Picture> run_order_pictures(const Evidence& evidence) {
  if (evidence.runs.empty()) return {};
  std::map<Place, std::vector<double>> steps;
  std::map<std::string, std::vector<double>> probes;
  for (const auto& row : evidence.runs) {
    if (row.outcome != OutcomeKind::ok || !row.summary.median_ns || *row.summary.median_ns <= 0) continue;
    steps[{row.trial, row.platform}].push_back(static_cast<double>(*row.summary.median_ns));
    if (row.digest.probe_ns) probes[row.platform].push_back(*row.digest.probe_ns);
  }
  const auto usual = medians(steps);
  const auto usual_probe = medians(probes);
  Kinds kinds;
  std::map<std::string, std::size_t> reasons;
  double x = 0;
  for (const auto* row : in_order(evidence.runs)) {
    ++x;
    if (row->outcome != OutcomeKind::ok || !row->summary.median_ns || *row->summary.median_ns <= 0) {
      kinds.failed.marks.push_back(
          {.x = x, .note = fmt::format("{}: {}", name_of(row->outcome), printable(row->message, 120))});
      continue;
    }
    const double off = 100 * (static_cast<double>(*row->summary.median_ns) / usual.at({row->trial, row->platform}) - 1);
    auto& series = row->trusted ? kinds.trusted : row->counted ? kinds.disturbed : kinds.again;
    if (!row->trusted) {
      for (const auto& reason : row->digest.reasons) reasons[reason.code] += reason.passing ? 1 : 0;
    }
    series.marks.push_back({.x = x, .y = off, .note = fmt::format("{} {}", row->started_utc, reason_codes(*row))});
    if (!row->digest.probe_ns) continue;
    kinds.probe.marks.push_back({.x = x, .y = 100 * (*row->digest.probe_ns / usual_probe.at(row->platform) - 1)});
  }
  Picture picture;
  picture.id = "run-order";
  picture.question = "Was the machine honest?";
  picture.title = "Every run in the order of time, against the median of its trial";
  picture.answer = honesty(kinds, evidence.runs.size(), reasons);
  picture.command = command_of("assay export --format csv", evidence);
  picture.x.title = "run";
  picture.y.title = "% longer than the median of its trial";
  for (auto* series : {&kinds.trusted, &kinds.disturbed, &kinds.again, &kinds.failed}) {
    thin(*series, kMostOfAKind);
    if (!series->marks.empty()) picture.series.push_back(std::move(*series));
  }
  thin(kinds.probe, kMostProbes);
  if (kinds.probe.marks.size() > 1) picture.series.push_back(std::move(kinds.probe));
  return {picture};
}

}  // namespace assay::report
