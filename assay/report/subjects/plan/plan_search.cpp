#include "assay/report/subjects/plan/plan_search.hpp"

#include "assay/core/text/units.hpp"
#include "assay/report/pictures/picture.hpp"
#include "assay/report/subjects/plan/plan_text.hpp"

namespace assay::report {
namespace {

const auto kRight = Table::Align::right;
constexpr std::size_t kLongestReason = 80;  ///< in its row; a longer one is below the table

bool has_bills(const predict::PlanSearch& said) {
  return said.tokens.has_value();
}

Table points_table(const predict::PlanSearch& said) {
  std::vector<Table::Column> columns{{"devices", kRight},    {"cluster"},
                                     {"best split"},         {"step", kRight},
                                     {"90 % range", kRight}, {"tokens/s", kRight, 1},
                                     {"of peak", kRight, 2}, {"memory", kRight, 1}};
  if (has_bills(said)) {
    columns.insert(columns.end(), {{"training", kRight},
                                   {"device hours", kRight, 2},
                                   {"price", kRight},
                                   {"kWh", kRight, 1},
                                   {"kg CO2", kRight, 1}});
  }
  columns.push_back({"front"});
  Table table(columns);
  for (const auto& point : said.points) {
    std::vector<std::string> cells{std::to_string(point.devices), point.cluster};
    if (point.best) {
      const auto& best = *point.best;
      cells.insert(cells.end(),
                   {text_of(best.split), long_duration(best.seconds),
                    duration_range(best.low_seconds, best.high_seconds), short_number(best.tokens_per_second),
                    fmt::format("{:.1f} %", 100 * best.utilization), memory_size(best.memory.total())});
    } else {
      const bool is_short = point.reason.size() <= kLongestReason;
      cells.insert(cells.end(), {is_short ? point.reason : "cannot be used: see below", "", "", "", "", ""});
    }
    if (has_bills(said)) {
      if (point.bill) {
        cells.insert(cells.end(),
                     {long_duration(3600 * point.bill->hours), amount(point.bill->device_hours),
                      amount(point.bill->price), amount(point.bill->energy_kwh), amount(point.bill->carbon_kg)});
      } else {
        cells.insert(cells.end(), {"", "", "", "", ""});
      }
    }
    cells.emplace_back(!point.best ? "" : !point.within_limits ? "beyond the limits" : point.on_front ? "yes" : "");
    table.add(cells);
  }
  return table;
}

Table ranking_table(const predict::SplitSearch& search) {
  Table table({{"split"},
               {"step", kRight},
               {"90 % range", kRight},
               {"bubble", kRight, 2},
               {"communication", kRight, 2},
               {"memory", kRight}});
  for (const auto& one : search.ranked) {
    const auto& s = one.step;
    const double sent =
        s.tensor_seconds + s.shard_seconds + s.exchange_seconds + s.pipeline_seconds + s.gradient_seconds;
    table.add({text_of(one.split), long_duration(one.seconds), duration_range(one.low_seconds, one.high_seconds),
               fmt::format("{:.1f} %", 100 * s.bubble_seconds / s.seconds),
               fmt::format("{:.1f} %", 100 * sent / s.seconds), memory_size(one.memory.total())});
  }
  return table;
}

Table neighbours_table(const predict::PlanSearch& said) {
  Table table({{"change"}, {"step", kRight}, {"because of"}, {"memory", kRight}});
  for (const auto& one : said.neighbours) {
    table.add({one.change, fmt::format("{:.2f} x", one.ratio), one.because,
               memory_size(one.memory_bytes) + (one.fits ? "" : ", does not fit")});
  }
  return table;
}

std::string ratio_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f} x", *value) : "";
}

void add_ratios(const predict::PlanSearch& said, Document& document) {
  if (said.ratios.empty()) return;
  document.heading(fmt::format("Beside {}", said.ratios.front().beside));
  Table table({{"cluster"},
               {"devices", kRight},
               {"step", kRight},
               {"90 % range", kRight},
               {"price", kRight},
               {"energy", kRight}});
  for (const auto& one : said.ratios) {
    table.add({one.cluster, std::to_string(one.devices), ratio_text(one.step.ratio),
               fmt::format("{:.2f} to {:.2f} x", one.step.low, one.step.high), ratio_text(one.price_ratio),
               ratio_text(one.energy_ratio)});
  }
  document.add(table);
  document.paragraph("Range of the ratio: " + said.ratios.front().step.rests_on);
}

}  // namespace

Document plan_search_document(const predict::PlanSearch& said) {
  Document document;
  document.heading(fmt::format("{}: {:.4g} billion parameters, {} sequences of {} tokens a step, {}", said.model,
                               1e-9 * static_cast<double>(said.parameters), said.global_batch, said.sequence,
                               name_of(said.precision)));
  document.add(points_table(said));
  for (const auto& point : said.points) {
    if (point.reason.size() > kLongestReason) document.item(point.reason + (point.reason.back() == '.' ? "" : "."));
  }
  add_ratios(said, document);
  document.heading("To take");
  document.paragraph(said.choice);
  if (said.chosen) {
    const auto& best = said.search.ranked.front();
    document.paragraph(fmt::format("{} of {} valid splits fit; the fastest {}:", said.search.fitting,
                                   said.search.splits, said.search.ranked.size()));
    document.add(ranking_table(said.search));
    document.heading("Where the step of the first goes");
    document.add(step_parts(best.step));
    document.paragraph(fmt::format("Memory of a device: {} ({} states, {} activations, {} output, {} buffers).",
                                   memory_size(best.memory.total()), memory_size(best.memory.state_bytes),
                                   memory_size(best.memory.activation_bytes), memory_size(best.memory.output_bytes),
                                   memory_size(best.memory.buffer_bytes)));
    document.heading("Its neighbourhood: up to two sizes changed at once");
    document.add(neighbours_table(said));
  }
  for (const auto& note : said.notes) document.item(note);
  return document;
}

}  // namespace assay::report
