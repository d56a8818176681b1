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
  return format_seconds(point.low_seconds) + " to " + format_seconds(point.high_seconds);
}

std::string truth_text(const predict::ScoredPoint& point) {
  auto text = words_of(name_of(point.truth));
  if (point.truth != TruthKind::published) text += fmt::format(", {} run{}", point.runs, point.runs == 1 ? "" : "s");
  return text;
}

Table scores_table(const predict::PredictionScore& score) {
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
               std::to_string(point.batch), format_seconds(point.predicted_seconds), scored_range(point),
               format_seconds(point.measured_seconds), fmt::format("{:+.1f} %", 100 * point.error),
               !point.inside   ? "-"
               : *point.inside ? "yes"
                               : "no",
               truth_text(point), point.source});
  }
  return table;
}

void add_errors(const predict::PredictionScore& score, Document& document) {
  if (score.counted == 0) {
    document.paragraph(
        "No point counts: nothing was measured after it was predicted, and no table was given (--published).");
    return;
  }
  document.paragraph(fmt::format("Error of {} point{}: mean {:.1f} %, median {:.1f} %, worst {:.1f} %", score.counted,
                                 score.counted == 1 ? "" : "s", 100 * *score.mean_error, 100 * *score.median_error,
                                 100 * *score.worst_error));
  for (const auto& one : score.coverage) {
    document.paragraph(fmt::format("{} of {} {} hold what was measured ({:.0f} %)", one.inside, one.points,
                                   one.range == RangeKind::interval ? "90 % intervals" : "what-if ranges",
                                   100.0 * static_cast<double>(one.inside) / static_cast<double>(one.points)));
  }
}

void add_unmatched(const predict::PredictionScore& score, Document& document) {
  if (score.unmatched.empty()) return;
  document.gap();
  document.paragraph("Nothing was measured of:");
  for (const auto& one : score.unmatched) {
    document.item(fmt::format("{}  {} on {}, {} devices, batch {} of each", one.prediction, fit(one.network, 60),
                              fit(one.cluster, 60), fmt::join(one.devices, ", "), fmt::join(one.batches, ", ")));
  }
  document.paragraph(
      "A point is joined with training of the same network, options, precision and batch, ranks for devices.");
}

}  // namespace

Document prediction_score_document(const predict::PredictionScore& score) {
  const bool before = std::any_of(score.points.begin(), score.points.end(),
                                  [](const auto& one) { return one.truth == TruthKind::known_before; });
  Document document;
  if (!score.points.empty()) {
    document.add(scores_table(score));
    document.gap();
  }
  add_errors(score, document);
  if (before) document.paragraph("What was known before a prediction was made is shown and does not count.");
  add_unmatched(score, document);
  return document;
}

}  // namespace assay::report
