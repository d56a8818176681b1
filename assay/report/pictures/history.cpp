#include "assay/report/pictures/history.hpp"

#include <algorithm>

#include "assay/report/pictures/naming.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostSeries = 3;
constexpr std::size_t kMostHistoryPoints = 400;

std::string change_text(const compare::HistoryChange& change) {
  return change.ratio >= 1 ? fmt::format("{:.1f} % slower", 100 * (change.ratio - 1))
                           : fmt::format("{:.1f} % faster", 100 * (1 - change.ratio));
}

/// What a point is called: a release, or when it was measured.
std::string point_name(const compare::HistoryPoint& point, compare::Over over) {
  return over == compare::Over::releases ? point.release : point.started_utc.substr(0, 16);
}

std::string history_answer(const compare::HistorySeries& series, compare::Over over) {
  if (series.changes.empty()) {
    return series.missing > 0 ? fmt::format("{} points; it would take {} more to tell a change from noise.",
                                            series.points.size(), series.missing)
                              : fmt::format("No change of level in {} points.", series.points.size());
  }
  const auto& newest = series.changes.back();
  return fmt::format("From {} on it is {} than before ({:+.1f} % to {:+.1f} %).",
                     point_name(series.points[static_cast<std::size_t>(newest.first)], over), change_text(newest),
                     100 * (newest.low - 1), 100 * (newest.high - 1));
}

}  // namespace

Picture history_picture(const compare::HistorySeries& series, compare::Over over) {
  Picture picture;
  picture.question = "Which release, and since when?";
  picture.title = fmt::format("Time of a step over {}: {} on {}", name_of(over), title(series.trial.workload),
                              series.trial.worker.name);
  picture.answer = history_answer(series, over);
  picture.x = {.title = over == compare::Over::releases ? "release" : "measured at (UTC)",
               .kind = PictureAxisKind::category};
  picture.y.title = "ms";
  Series line{.name = "median step", .kind = SeriesKind::line, .colour = 0};
  Series dots{.name = "outlier, set aside", .kind = SeriesKind::dots, .colour = 3};
  Series rules{.name = "change of level", .kind = SeriesKind::rules, .colour = 3};
  const std::size_t first = series.points.size() > kMostHistoryPoints ? series.points.size() - kMostHistoryPoints : 0;
  for (std::size_t i = first; i < series.points.size(); ++i) {
    const auto& point = series.points[i];
    picture.x.categories.push_back(point_name(point, over));
    Mark mark{.x = static_cast<double>(i - first),
              .y = point.median_ns * 1e-6,
              .note = fmt::format("{}, {} runs", point.release, point.runs)};
    if (point.set_aside) {
      dots.marks.push_back(std::move(mark));
      continue;
    }
    if (point.low_ns) mark.low = *point.low_ns * 1e-6;
    if (point.high_ns) mark.high = *point.high_ns * 1e-6;
    line.marks.push_back(std::move(mark));
  }
  for (const auto& change : series.changes) {
    const double at = static_cast<double>(change.first) - static_cast<double>(first) - 0.5;
    if (at > 0) rules.marks.push_back({.x = at, .text = change_text(change)});
  }
  for (auto* one : {&line, &dots, &rules}) {
    if (!one->marks.empty()) picture.series.push_back(std::move(*one));
  }
  return picture;
}

std::vector<Picture> history_pictures(const Evidence& evidence) {
  std::vector<Picture> pictures;
  for (const auto over : {compare::Over::releases, compare::Over::dates}) {
    compare::HistoryRequest request;
    request.over = over;
    const auto history = compare::history_of(evidence.trials, evidence.runs, request);
    std::vector<const compare::HistorySeries*> series;
    for (const auto& one : history.series) {
      if (one.points.size() > 1 && !is_roof(one.trial.workload)) series.push_back(&one);
    }
    // What changed first, then what is long.
    std::stable_sort(series.begin(), series.end(), [](const auto* a, const auto* b) {
      return std::pair(a->changes.size(), a->points.size()) > std::pair(b->changes.size(), b->points.size());
    });
    // Of those that did not change one is enough.
    const auto changed = static_cast<std::size_t>(
        std::count_if(series.begin(), series.end(), [](const auto* one) { return !one->changes.empty(); }));
    series.resize(std::min({series.size(), kMostSeries, std::max<std::size_t>(1, changed)}));
    for (std::size_t i = 0; i < series.size(); ++i) {
      auto picture = history_picture(*series[i], over);
      picture.id = fmt::format("history-{}-{}", name_of(over), i + 1);
      picture.command = command_of(fmt::format("assay history --over {} --trial {}", name_of(over),
                                               series[i]->points.back().trial.substr(0, 12)),
                                   evidence);
      pictures.push_back(std::move(picture));
    }
  }
  return pictures;
}

}  // namespace assay::report
