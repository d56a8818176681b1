#include "assay/report/subjects/predict/score.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "assay/core/text/units.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

using predict::RangeKind;
using predict::TruthKind;

std::string scored_range(const predict::ScoredPoint& point) {
  if (point.range == RangeKind::none) return "-";
  return format_duration(1e9 * point.low_seconds) + " to " + format_duration(1e9 * point.high_seconds);
}

std::string truth_text(const predict::ScoredPoint& point) {
  auto text = words_of(name_of(point.truth));
  if (point.truth != TruthKind::published) text += fmt::format(", {} run{}", point.runs, point.runs == 1 ? "" : "s");
  return text;
}

std::string scores_table(const predict::PredictionScore& score, const Look& look) {
  const auto right = Table::Align::right;
  const auto left = Table::Align::left;
  Table table({{"prediction", left, 3},
               {"network"},
               {"cluster", left, 1},
               {"devices", right},
               {"batch", right, 2},
               {"predicted", right},
               {"range", right},
               {"measured", right},
               {"error", right},
               {"inside"},
               {"truth", left, 4},
               {"of", left, 5}});
  for (const auto& point : score.points) {
    table.add({point.prediction, point.network, point.cluster, std::to_string(point.devices),
               std::to_string(point.batch), format_duration(1e9 * point.predicted_seconds), scored_range(point),
               format_duration(1e9 * point.measured_seconds), fmt::format("{:+.1f} %", 100 * point.error),
               !point.inside   ? "-"
               : *point.inside ? "yes"
                               : "no",
               truth_text(point), point.source});
  }
  return table.text(look.width) + table.room_note(look.width);
}

std::string errors_text(const predict::PredictionScore& score) {
  if (score.counted == 0) {
    return "No point counts: nothing was measured after it was predicted, and no table was given (--published).\n";
  }
  auto text = fmt::format("Error of {} point{}: mean {:.1f} %, median {:.1f} %, worst {:.1f} %\n", score.counted,
                          score.counted == 1 ? "" : "s", 100 * *score.mean_error, 100 * *score.median_error,
                          100 * *score.worst_error);
  for (const auto& one : score.coverage) {
    text += fmt::format("{} of {} {} hold what was measured ({:.0f} %)\n", one.inside, one.points,
                        one.range == RangeKind::interval ? "90 % intervals" : "what-if ranges",
                        100.0 * static_cast<double>(one.inside) / static_cast<double>(one.points));
  }
  return text;
}

std::string unmatched_text(const predict::PredictionScore& score) {
  if (score.unmatched.empty()) return "";
  std::string text = "\nNothing was measured of:\n";
  for (const auto& one : score.unmatched) {
    text += fmt::format("  {}  {} on {}, {} devices, batch {} of each\n", one.prediction, fit(one.network, 60),
                        fit(one.cluster, 60), fmt::join(one.devices, ", "), fmt::join(one.batches, ", "));
  }
  return text +
         "A point is joined with training of the same network, options, precision and batch, ranks for devices.\n";
}

}  // namespace

std::string prediction_score_report(const predict::PredictionScore& score, const Look& look) {
  const bool before = std::any_of(score.points.begin(), score.points.end(),
                                  [](const auto& one) { return one.truth == TruthKind::known_before; });
  std::string text;
  if (!score.points.empty()) text += scores_table(score, look) + "\n";
  text += errors_text(score);
  if (before) text += "What was known before a prediction was made is shown and does not count.\n";
  return text + unmatched_text(score);
}

}  // namespace assay::report
