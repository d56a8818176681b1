#include "assay/report/subjects/predict/transformer.hpp"

#include <algorithm>
#include <utility>

#include "assay/core/text/units.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

std::string bytes_text(double bytes) {
  constexpr double kMostShown = 9e18;  // sizes that people state may come to more than an integer holds
  return format_bytes(static_cast<std::int64_t>(std::min(bytes, kMostShown)));
}

std::string split_text(const predict::TransformerPlan& plan) {
  auto text = fmt::format("{} x {} x {}", plan.tensor, plan.pipeline, plan.data);
  return plan.interleaving > 1 ? text + fmt::format(", {} parts", plan.interleaving) : text;
}

std::string job_text(const predict::TransformerPoint& point) {
  return point.job_price ? fmt::format("{:.3g} h, {:.4g}", *point.job_hours, *point.job_price)
                         : fmt::format("{:.3g} h", *point.job_hours);
}

Table plans_table(const predict::TransformerPrediction& said) {
  const auto right = Table::Align::right;
  const bool priced = said.points.front().job_hours.has_value();
  std::vector<Table::Column> columns{{"devices", right},          {"tensor x pipeline x data", right},
                                     {"microbatches", right, 5},  {"step", right},
                                     {"what-if range", right, 1}, {"sequences/s", right},
                                     {"utilization", right, 3},   {"bubble", right, 4},
                                     {"memory", right, 2},        {"limit"}};
  if (priced) columns.push_back({"job", right});
  Table table(columns);
  for (const auto& point : said.points) {
    const auto memory = bytes_text(point.memory.total());
    std::vector<std::string> cells{std::to_string(point.devices),
                                   split_text(point.plan),
                                   fmt::format("{} of {}", point.plan.microbatches(), point.plan.microbatch),
                                   format_seconds(point.step.seconds),
                                   format_seconds(point.low_seconds) + " to " + format_seconds(point.high_seconds),
                                   fmt::format("{:.4g}", point.sequences_per_second),
                                   fmt::format("{:.1f} %", 100 * point.step.utilization),
                                   fmt::format("{:.1f} %", 100 * point.step.bubble_seconds / point.step.seconds),
                                   point.fits.value_or(true) ? memory : memory + ", does not fit",
                                   name_of(point.limit)};
    if (priced) cells.push_back(job_text(point));
    table.add(cells);
  }
  return table;
}

/// Where the time of a step goes, with a bar for each part.
Table parts_table(const predict::TransformerPoint& point) {
  const auto& step = point.step;
  const std::vector<std::pair<const char*, double>> parts{
      {"matrix products", step.product_seconds},
      {"norms, dropouts, activations, softmax", step.passes_seconds},
      {"sums within tensor-parallel groups", step.tensor_seconds},
      {"from stage to stage", step.pipeline_seconds},
      {"output layer and loss", step.output_seconds},
      {"bubble of the pipeline", step.bubble_seconds},
      {"gradients over replicas", step.gradient_seconds},
      {"update", step.update_seconds}};
  Table table({{"of the step"}, {"time", Table::Align::right}, {"share", Table::Align::right}, {""}});
  for (const auto& [name, seconds] : parts) {
    if (!(seconds > 0)) continue;
    const double share = seconds / step.seconds;
    table.add({name, format_seconds(seconds), fmt::format("{:.1f} %", 100 * share), efficiency_bar(share)});
  }
  return table;
}

std::string memory_text(const predict::TransformerPoint& point) {
  const auto& memory = point.memory;
  return fmt::format(
      "Memory of a device of the first stage: {}{} ({} parameters, {} gradients, {} optimizer, {} "
      "activations).",
      bytes_text(memory.total()), point.fits && !*point.fits ? ", which does not fit" : "",
      bytes_text(memory.parameter_bytes), bytes_text(memory.gradient_bytes), bytes_text(memory.optimizer_bytes),
      bytes_text(memory.activation_bytes));
}

void add_changes(const predict::TransformerPrediction& said, Document& document) {
  const auto& point = said.points.back();
  const bool fits_now = point.fits.value_or(true);
  if (said.advice.empty() && fits_now) return;
  document.gap();
  if (said.advice.empty()) return document.paragraph("No single change of the plan makes it fit.");
  document.paragraph(fmt::format("What would {} on {} devices:", fits_now ? "help" : "fit", point.devices));
  for (const auto& one : said.advice) {
    document.item(fmt::format("{:.2f} x  {} ({})", one.gain, one.change, bytes_text(one.memory_bytes)));
  }
}

}  // namespace

Document transformer_document(const predict::TransformerPrediction& said) {
  const auto& shape = said.shape;
  const auto& point = said.points.back();
  Document document;
  document.heading(fmt::format(
      "{} on {}: {:.4g} billion parameters (hidden {}, {} blocks, {} heads, feed-forward {}, sequence {}, vocabulary "
      "{})",
      fit(said.name, 60), fit(said.cluster, 60), 1e-9 * said.parameters, shape.hidden, shape.blocks, shape.heads,
      shape.feedforward, shape.sequence, shape.vocabulary));
  document.gap();
  document.add(plans_table(said));
  document.gap();
  document.paragraph(
      fmt::format("On {} devices {} limits it.", point.devices,
                  point.limit == predict::TransformerLimit::bubble ? "the bubble" : name_of(point.limit)));
  document.gap();
  document.add(parts_table(point));
  document.gap();
  document.paragraph(memory_text(point));
  add_changes(said, document);
  if (!said.notes.empty()) document.gap();
  for (const auto& note : said.notes) document.paragraph(note);
  return document;
}

}  // namespace assay::report
