#include "assay/report/subjects/fit.hpp"

#include <cmath>

#include "assay/core/text/units.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

std::string ranges_text(const model::Model& model) {
  std::string text;
  for (const auto& range : model.ranges) {
    text += fmt::format("{}{} {:g} to {:g} ({} levels, {})", text.empty() ? "" : "; ", range.factor, range.low,
                        range.high, range.levels, name_of(range.role));
  }
  return text;
}

std::string constants_table(const model::Model& model, const Look& look) {
  Table table({{"constant"}, {"value", Table::Align::right}, {"interval", Table::Align::right}, {"what it says"}});
  for (const auto& constant : model.constants) {
    const auto interval = constant.low ? fmt::format("{:.3g} to {:.3g}", *constant.low, *constant.high) : "-";
    table.add({constant.name, fmt::format("{:.4g}", constant.value), interval, constant.sentence});
  }
  return table.text(look.width);
}

std::string families_table(const model::Model& model, const Look& look) {
  Table table({{"family"},
               {"constants", Table::Align::right},
               {"error inside", Table::Align::right},
               {"held out", Table::Align::right},
               {""}});
  for (const auto& candidate : model.candidates) {
    const bool chosen = candidate.family == model.family;
    table.add({candidate.family, candidate.refused ? "-" : std::to_string(candidate.constants),
               percent(candidate.error_inside), percent(candidate.error_held_out),
               candidate.refused ? "not fitted: " + *candidate.refused
               : chosen          ? "chosen"
                                 : ""});
  }
  return table.text(look.width);
}

std::string trust_text(const model::Model& model) {
  const auto& doubt = model.uncertainty;
  auto text = fmt::format("{:.0f} % of times are within {:.1f} % of the law where it was measured",
                          100 * doubt.confidence, 100 * std::expm1(doubt.inside));
  text += doubt.per_doubling > 0
              ? fmt::format("; each doubling beyond adds up to {:.1f} %.\n", 100 * std::expm1(doubt.per_doubling))
              : ".\n";
  if (doubt.coverage) {
    text += fmt::format("Of the largest scales, held out, {:.0f} % lay in their interval.\n", 100 * *doubt.coverage);
  }
  return text;
}

}  // namespace

std::string model_report(const model::Model& model, const Look& look) {
  auto text = fmt::format("{}{} rows, {} points: {}\n", model.name.empty() ? "" : model.name + "\n", model.rows,
                          model.points, ranges_text(model));
  text += fmt::format("\nseconds = {}\n\n", model::formula(model.law));
  text += constants_table(model, look) + "\n" + families_table(model, look) + "\n" + trust_text(model);
  for (const auto& note : model.notes) text += note + "\n";
  return text;
}

std::string score_report(const model::Model& model, const model::Score& score) {
  auto text = fmt::format("{}{} points", model.name.empty() ? "" : model.name + ": ", score.points);
  if (score.refused > 0) text += fmt::format(", of which the model says nothing of {}", score.refused);
  if (score.median_error) {
    text += fmt::format("; off by {:.1f} % in the median, {:.1f} % at worst; {:.0f} % within the {:.0f} % interval",
                        100 * *score.median_error, 100 * *score.worst_error, 100 * *score.coverage,
                        100 * model.uncertainty.confidence);
  }
  if (score.noise) text += fmt::format("; runs of one point are {:.1f} % off their median", 100 * *score.noise);
  return text + ".\n";
}

std::string prediction_report(const model::Prediction& prediction) {
  if (prediction.refused) return "No time is given: " + *prediction.refused + ".\n";
  auto text = fmt::format("{} ({} to {})", format_duration(1e9 * *prediction.seconds),
                          format_duration(1e9 * *prediction.low), format_duration(1e9 * *prediction.high));
  if (prediction.doublings > 0) {
    text += fmt::format(", {:.1f} doublings beyond what was measured", prediction.doublings);
  }
  return text + "\n";
}

}  // namespace assay::report
