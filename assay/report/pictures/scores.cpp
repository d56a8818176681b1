#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "assay/report/markup.hpp"
#include "assay/report/pictures/naming.hpp"

namespace assay::report {
namespace {

using predict::RangeKind;
using predict::TruthKind;

constexpr std::size_t kMostScoredSizes = 60;  // along one picture

/// Devices, and the batch of each.
using ScoredSize = std::pair<std::int64_t, std::int64_t>;

ScoredSize scored_size(const predict::ScoredPoint& point) {
  return {point.devices, point.batch};
}

/// Whether a point can be drawn, and its error be said.
bool has_scored_times(const predict::ScoredPoint& point) {
  return point.predicted_seconds > 0 && point.measured_seconds > 0 && std::isfinite(point.error);
}

const char* range_words(RangeKind range) {
  return range == RangeKind::interval ? "90 % intervals" : "what-if ranges";
}

/// Sizes in the order of devices, each at its place; the last ones are left out where there are too many.
std::map<ScoredSize, double> score_places(const predict::PredictionScore& score) {
  std::set<ScoredSize> sizes;
  for (const auto& point : score.points) {
    if (has_scored_times(point)) sizes.insert(scored_size(point));
  }
  std::map<ScoredSize, double> places;
  for (const auto& size : sizes) {
    if (places.size() < kMostScoredSizes) places.emplace(size, static_cast<double>(places.size()));
  }
  return places;
}

PictureAxis scored_axis(const std::map<ScoredSize, double>& places) {
  std::set<std::int64_t> batches;
  for (const auto& one : places) batches.insert(one.first.second);
  PictureAxis axis{.title = "devices", .kind = PictureAxisKind::category};
  for (const auto& one : places) {
    auto name = std::to_string(one.first.first);
    if (batches.size() > 1) name += fmt::format(", batch {}", one.first.second);
    axis.categories.push_back(std::move(name));
  }
  return axis;
}

/// One mark for each size, however much was measured of it.
Series score_predicted(const predict::PredictionScore& score, const std::map<ScoredSize, double>& places) {
  const auto range = score.points.front().range;
  Series series{.name = range == RangeKind::none ? "predicted, without a range"
                                                 : fmt::format("predicted, with {}", range_words(range)),
                .kind = SeriesKind::dots,
                .colour = 0};
  std::set<ScoredSize> seen;
  for (const auto& point : score.points) {
    const auto place = places.find(scored_size(point));
    if (!has_scored_times(point) || place == places.end() || !seen.insert(scored_size(point)).second) continue;
    Mark mark{.x = place->second, .y = 1e3 * point.predicted_seconds};
    if (range != RangeKind::none && point.low_seconds > 0 && point.high_seconds >= point.low_seconds) {
      mark.low = 1e3 * point.low_seconds;
      mark.high = 1e3 * point.high_seconds;
    }
    series.marks.push_back(std::move(mark));
  }
  return series;
}

Series score_measured(const predict::PredictionScore& score, const std::map<ScoredSize, double>& places, bool counted) {
  Series series{.name = counted ? "measured after the prediction" : "measured before it: does not count",
                .kind = SeriesKind::dots,
                .colour = counted ? 3 : 2};
  for (const auto& point : score.points) {
    const auto place = places.find(scored_size(point));
    if (!has_scored_times(point) || place == places.end() || (point.truth != TruthKind::known_before) != counted)
      continue;
    auto note = fmt::format("{}, {} runs; predicted {:+.1f} %", point.source, point.runs, 100 * point.error);
    series.marks.push_back({.x = place->second, .y = 1e3 * point.measured_seconds, .note = std::move(note)});
  }
  return series;
}

std::string score_answer(const predict::PredictionScore& score) {
  if (score.counted == 0) return "Nothing was measured after it was predicted; what was known before does not count.";
  std::string text;
  for (const auto& one : score.coverage) {
    text += fmt::format("{} of {} points measured later are within their {}. ", one.inside, one.points,
                        range_words(one.range));
  }
  text += fmt::format("Predictions are typically {:.2g} % off, at worst {:.2g} %.", 100 * *score.median_error,
                      100 * *score.worst_error);
  return text;
}

}  // namespace

std::vector<Picture> scores_pictures(const Evidence& evidence) {
  std::vector<Picture> pictures;
  for (const auto& score : evidence.scores) {
    const auto places = score_places(score);
    if (places.empty()) continue;
    const auto& first = score.points.front();
    Picture picture;
    picture.id = fmt::format("scores-{}", pictures.size() + 1);
    picture.question = "Can the prediction be believed?";
    picture.title = fmt::format("Predicted beside measured: {} on {}", first.network, first.cluster);
    picture.answer = score_answer(score);
    picture.command = command_of("assay predict --score " + shell_word(first.network), evidence);
    picture.x = scored_axis(places);
    picture.y = {.title = "ms of a step", .kind = PictureAxisKind::log};
    picture.series.push_back(score_predicted(score, places));
    for (const bool counted : {true, false}) {
      auto measured = score_measured(score, places, counted);
      if (!measured.marks.empty()) picture.series.push_back(std::move(measured));
    }
    pictures.push_back(std::move(picture));
  }
  return pictures;
}

}  // namespace assay::report
