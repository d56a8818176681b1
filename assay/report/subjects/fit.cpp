#include "assay/report/subjects/fit.hpp"

#include <fmt/ranges.h>

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
    if (range.names) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", range.factor, fmt::join(*range.names, ", "));
      continue;
    }
    text += fmt::format("{}{} {:g} to {:g} ({} levels, {})", text.empty() ? "" : "; ", range.factor, range.low,
                        range.high, range.levels, name_of(range.role));
  }
  return text;
}

Table constants_table(const model::Model& model) {
  const bool by_level = !model.law.by.empty();
  Table table({{"constant"}, {"value", Table::Align::right}, {"interval", Table::Align::right}, {"what it says"}});
  for (const auto& constant : model.constants) {
    const auto interval = constant.low ? fmt::format("{:.3g} to {:.3g}", *constant.low, *constant.high) : "-";
    const auto whose = constant.level.empty() ? "shared" : constant.level;
    table.add({by_level ? fmt::format("{} ({})", constant.name, whose) : constant.name,
               fmt::format("{:.4g}", constant.value), interval, constant.sentence});
  }
  return table;
}

Table families_table(const model::Model& model) {
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
  return table;
}

/// The formula; with levels, one for each.
void add_law(const model::Model& model, Document& out) {
  if (model.law.by.empty()) {
    out.paragraph("seconds = " + model::formula(model.law));
    return;
  }
  for (const auto& range : model.ranges) {
    for (const auto& level : range.names.value_or(std::vector<std::string>())) {
      out.paragraph(fmt::format("{}: seconds = {}", level, model::formula(law_at(model.law, level))));
    }
  }
}

void add_trust(const model::Model& model, Document& out) {
  const auto& doubt = model.uncertainty;
  auto text = fmt::format("{:.0f} % of times are within {:.1f} % of the law where it was measured",
                          100 * doubt.confidence, 100 * std::expm1(doubt.inside));
  if (doubt.per_doubling > 0)
    text += fmt::format("; each doubling beyond adds up to {:.1f} %", 100 * std::expm1(doubt.per_doubling));
  out.paragraph(text + ".");
  if (doubt.coverage) {
    out.paragraph(
        fmt::format("Of the largest scales, held out, {:.0f} % lay in their interval.", 100 * *doubt.coverage));
  }
}

}  // namespace

Document model_document(const model::Model& model) {
  Document out;
  if (!model.name.empty()) out.paragraph(model.name);
  out.paragraph(fmt::format("{} rows, {} points: {}", model.rows, model.points, ranges_text(model)));
  out.gap();
  add_law(model, out);
  out.gap();
  out.add(constants_table(model));
  out.gap();
  out.add(families_table(model));
  out.gap();
  add_trust(model, out);
  for (const auto& note : model.notes) out.paragraph(note);
  return out;
}

std::string score_sentence(const model::Model& model, const model::Score& score) {
  auto text = fmt::format("{}{} points", model.name.empty() ? "" : model.name + ": ", score.points);
  if (score.refused > 0) text += fmt::format(", of which the model says nothing of {}", score.refused);
  if (score.median_error) {
    text += fmt::format("; off by {:.1f} % in the median, {:.1f} % at worst; {:.0f} % within the {:.0f} % interval",
                        100 * *score.median_error, 100 * *score.worst_error, 100 * *score.coverage,
                        100 * model.uncertainty.confidence);
  }
  if (score.noise) text += fmt::format("; runs of one point are {:.1f} % off their median", 100 * *score.noise);
  return text + ".";
}

std::string prediction_sentence(const model::Prediction& prediction) {
  if (prediction.refused) return "No time is given: " + *prediction.refused + ".";
  auto text = fmt::format("{} ({} to {})", format_seconds(*prediction.seconds), format_seconds(*prediction.low),
                          format_seconds(*prediction.high));
  if (prediction.doublings > 0) {
    text += fmt::format(", {:.1f} doublings beyond what was measured", prediction.doublings);
  }
  return text;
}

}  // namespace assay::report
