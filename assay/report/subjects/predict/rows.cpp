#include "assay/report/subjects/predict/rows.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "assay/core/text/units.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

std::string memory_text(const predict::RowPrediction& row) {
  constexpr double kMostShownBytes = 9e18;
  const auto text = format_bytes(static_cast<std::int64_t>(std::min(row.memory_bytes, kMostShownBytes)));
  return row.fits ? text : text + ", does not fit";
}

Table jobs_table(const predict::RowsPrediction& said) {
  const auto right = Table::Align::right;
  Table table({{"row", right},
               {"model"},
               {"device"},
               {"devices", right},
               {"step", right},
               {said.calibrated_rows > 0 ? "90 % range" : "what-if range", right, 1},
               {"measured", right},
               {"error", right},
               {"memory", right, 2},
               {"utilization", right, 3},
               {"limit", Table::Align::left, 4}});
  auto refused = said.refused_devices.begin();
  const auto add_refused_before = [&](std::int64_t row) {
    for (; refused != said.refused_devices.end() && refused->after_row < row; ++refused) {
      table.add({"", said.rows.front().model, said.rows.front().device, std::to_string(refused->devices),
                 "cannot be divided", "", "", "", "", "", ""});
    }
  };
  for (const auto& row : said.rows) {
    add_refused_before(row.row);
    table.add({std::to_string(row.row), row.model, row.device, std::to_string(row.devices), format_seconds(row.seconds),
               format_seconds(row.low_seconds) + " to " + format_seconds(row.high_seconds),
               row.measured_seconds ? format_seconds(*row.measured_seconds) : "",
               row.error ? fmt::format("{:+.1f} %", 100 * *row.error) : "", memory_text(row),
               fmt::format("{:.1f} %", 100 * row.utilization), name_of(row.limit)});
  }
  add_refused_before(std::numeric_limits<std::int64_t>::max());
  return table;
}

std::string shown_bytes(double bytes) {
  constexpr double kMostShownBytes = 9e18;  // sizes that people state may come to more than an integer holds
  return format_bytes(static_cast<std::int64_t>(std::min(bytes, kMostShownBytes)));
}

/// Where the time of a step goes, with a bar for each part.
Table step_parts(const predict::RowPrediction& row) {
  const auto& t = row.step;
  const std::vector<std::pair<const char*, double>> parts{{"products, attention and passes", t.compute_seconds},
                                                          {"sums within tensor groups", t.tensor_seconds},
                                                          {"gathers and scatters of shards", t.shard_seconds},
                                                          {"exchange among experts and context", t.exchange_seconds},
                                                          {"from stage to stage", t.pipeline_seconds},
                                                          {"output layer and loss", t.output_seconds},
                                                          {"bubble of the pipeline", t.bubble_seconds},
                                                          {"gradients over replicas", t.gradient_seconds},
                                                          {"update", t.update_seconds}};
  Table table({{"of the step"}, {"time", Table::Align::right}, {"share", Table::Align::right}, {""}});
  for (const auto& [name, seconds] : parts) {
    if (!(seconds > 0)) continue;
    const double share = seconds / t.seconds;
    table.add({name, format_seconds(seconds), fmt::format("{:.1f} %", 100 * share), efficiency_bar(share)});
  }
  return table;
}

/// Each with its spread, and those that were refused.
void add_constants(const predict::RowsPrediction& said, Document& document) {
  auto text = said.calibrated_rows > 0 ? fmt::format("Constants of {} from {} rows:", said.stack, said.calibrated_rows)
                                       : "Constants:";
  bool has_spread = false;
  for (const auto& spec : predict::step_constant_specs()) {
    text += fmt::format(" {} {:.3g}", spec.name, said.constants.*spec.value);
    for (const auto& one : said.spreads) {
      if (one.name != spec.name || !one.low || !one.high) continue;
      text += fmt::format(" ({:.3g} to {:.3g})", *one.low, *one.high);
      has_spread = true;
    }
    text += ";";
  }
  text.back() = '.';
  document.paragraph(text);
  if (has_spread) {
    document.paragraph(
        "In brackets: the least and the most of fits that leave out groups of rows; the others no row shows.");
  } else if (!said.spreads.empty()) {
    document.paragraph("The rows are one group, so that no spread of a constant is known.");
  }
  for (const auto& one : said.refused_constants) {
    document.paragraph(
        fmt::format("Refused: {}{}, whose fit ends at its bound of {:.3g}. {:.3g} is taken. It needs {}.", one.name,
                    one.device.empty() ? "" : " on " + one.device, one.bound, one.value, one.told_by));
  }
}

}  // namespace

Document rows_prediction_document(const predict::RowsPrediction& said) {
  Document document;
  document.add(jobs_table(said));
  document.gap();
  if (said.mean_error) {
    document.paragraph(
        fmt::format("Error: mean {:.1f} %, median {:.1f} %, worst {:+.1f} %; {:.0f} % of the ranges hold.",
                    100 * *said.mean_error, 100 * *said.median_error, 100 * *said.worst_error, 100 * *said.held_share));
    document.gap();
  }
  add_constants(said, document);
  for (const auto& row : said.rows) {
    for (const auto& what : row.assumed) document.paragraph(fmt::format("Row {}: assumed {}.", row.row, what));
  }
  for (const auto& one : said.refused_devices)
    document.paragraph(fmt::format("Not predicted on {} devices: {}", one.devices, one.why));
  for (const auto& why : said.refused) document.paragraph(fmt::format("Not predicted, {}.", why));
  for (const auto& note : said.notes) document.paragraph(note);
  return document;
}

Document job_prediction_document(const predict::RowsPrediction& said) {
  auto document = rows_prediction_document(said);
  if (said.rows.empty()) return document;
  const auto& row = said.rows.back();
  document.gap();
  document.paragraph(fmt::format("On {} devices {} limits it.", row.devices,
                                 row.limit == predict::StepLimit::bubble ? "the bubble" : name_of(row.limit)));
  document.gap();
  document.add(step_parts(row));
  for (const auto& one : said.rows) {
    if (!one.simulated_seconds) continue;
    document.gap();
    document.paragraph(fmt::format("Simulated on {} devices: {} ({:+.1f} %).", one.devices,
                                   format_seconds(*one.simulated_seconds),
                                   100 * (*one.simulated_seconds / one.seconds - 1)));
  }
  document.gap();
  document.paragraph(fmt::format(
      "Memory of a device: {}{} ({} parameters, gradients and optimizer, {} activations, {} output layer, {} buffers).",
      shown_bytes(row.memory_bytes), row.fits ? "" : ", which does not fit", shown_bytes(row.memory.state_bytes),
      shown_bytes(row.memory.activation_bytes), shown_bytes(row.memory.output_bytes),
      shown_bytes(row.memory.buffer_bytes)));
  if (said.advice.empty()) return document;
  document.gap();
  document.paragraph(fmt::format("What would {} on {} devices:", row.fits ? "help" : "fit", row.devices));
  for (const auto& one : said.advice) document.item(fmt::format("{:.2f} x  {}", one.gain, one.change));
  return document;
}

}  // namespace assay::report
