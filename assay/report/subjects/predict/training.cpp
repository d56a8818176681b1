#include "assay/report/subjects/predict/training.hpp"

#include <algorithm>

#include "assay/report/pictures/picture.hpp"
#include "assay/report/subjects/plan/plan_text.hpp"

namespace assay::report {
namespace {

constexpr auto kToRight = Table::Align::right;

/// As people write them: 800B, not 800G.
std::string tokens_text(double tokens) {
  auto text = short_number(tokens);
  if (text.back() == 'G') text.back() = 'B';
  return text;
}

Table stages_table(const predict::TrainingPlan& plan) {
  Table table({{"tokens", kToRight},
               {"sequence", kToRight},
               {"batch", kToRight},
               {"devices", kToRight},
               {"split"},
               {"step", kToRight},
               {"90 % range", kToRight},
               {"of peak", kToRight, 1},
               {"memory", kToRight, 2},
               {"time", kToRight}});
  for (const auto& stage : plan.stages) {
    table.add({tokens_text(stage.tokens), std::to_string(stage.sequence), std::to_string(stage.batch),
               std::to_string(stage.devices), text_of(stage.best.split), long_duration(stage.best.seconds),
               duration_range(stage.best.low_seconds, stage.best.high_seconds),
               fmt::format("{:.1f} %", 100 * stage.best.utilization), memory_size(stage.best.memory.total()),
               long_duration(stage.time.seconds)});
  }
  return table;
}

Table totals_table(const predict::TrainingPlan& plan) {
  Table table({{"in all"}, {"mean", kToRight}, {"90 % range", kToRight}});
  const auto add = [&](const char* name, const std::optional<double>& value, const std::optional<double>& low,
                       const std::optional<double>& high) {
    if (value) table.add({name, short_number(*value), short_number(*low) + " to " + short_number(*high)});
  };
  table.add(
      {"time", long_duration(3600 * plan.bill.hours), duration_range(3600 * plan.low.hours, 3600 * plan.high.hours)});
  add("device hours", plan.bill.device_hours, plan.low.device_hours, plan.high.device_hours);
  add("price", plan.bill.price, plan.low.price, plan.high.price);
  add("energy, kWh", plan.bill.energy_kwh, plan.low.energy_kwh, plan.high.energy_kwh);
  add("carbon dioxide, kg", plan.bill.carbon_kg, plan.low.carbon_kg, plan.high.carbon_kg);
  return table;
}

Table time_table(const predict::TrainingTime& time) {
  Table table({{"of the time"}, {"in all", kToRight}, {"share", kToRight}});
  const auto add = [&](const char* name, double seconds) {
    if (seconds > 0) table.add({name, long_duration(seconds), fmt::format("{:.2f} %", 100 * seconds / time.seconds)});
  };
  add("steps that count (goodput)", time.useful_seconds);
  add("checkpoints", time.checkpoint_seconds);
  add("lost work", time.lost_seconds);
  add("restarts", time.restart_seconds);
  add("waiting for a node", time.waiting_seconds);
  return table;
}

/// Goodput by how long checkpoints and restarts take.
Table goodputs_table(const predict::TrainingPlan& plan) {
  std::vector<double> restarts;
  for (const auto& cell : plan.goodputs) {
    if (cell.checkpoint_seconds == plan.goodputs.front().checkpoint_seconds) restarts.push_back(cell.restart_seconds);
  }
  std::vector<Table::Column> columns{{"checkpoint", kToRight}, {"best interval", kToRight}};
  for (const double restart : restarts) columns.push_back({fmt::format("restart {:.0f} min", restart / 60), kToRight});
  Table table(columns);
  for (std::size_t i = 0; i + restarts.size() <= plan.goodputs.size(); i += restarts.size()) {
    const auto& first = plan.goodputs[i];
    std::vector<std::string> cells{long_duration(first.checkpoint_seconds),
                                   fmt::format("{:.1f} min", first.interval_seconds / 60)};
    for (std::size_t j = 0; j < restarts.size(); ++j) {
      cells.push_back(fmt::format("{:.1f} %", 100 * plan.goodputs[i + j].goodput));
    }
    table.add(cells);
  }
  return table;
}

void add_plan(const predict::TrainingPlan& plan, Document& document) {
  document.heading(fmt::format("{} ({}, {:.4g} billion parameters) on {}", plan.name, plan.model,
                               1e-9 * static_cast<double>(plan.parameters), plan.cluster));
  document.add(stages_table(plan));
  document.gap();
  document.add(totals_table(plan));
  document.gap();
  document.add(time_table(plan.time));
  if (plan.time.failures > 0) {
    document.paragraph(fmt::format(
        "{:.3g} failures in the mean. {} simulated courses take {} in the mean, which is {:+.2f} % beside the formula; "
        "chance alone moves one by {:.1f} %.",
        plan.time.failures, plan.simulated_courses, long_duration(plan.simulated_seconds),
        100 * (plan.simulated_seconds / plan.time.seconds - 1), 100 * plan.chance_share));
    document.heading("Goodput if checkpoints and restarts took other times");
    document.add(goodputs_table(plan));
  }
  document.heading("What it rests on");
  for (const auto& one : plan.assumptions) document.item(one);
}

std::string times_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f} x", *value) : "";
}

}  // namespace

Document training_document(const predict::TrainingPlans& said) {
  Document document;
  for (const auto& plan : said.plans) add_plan(plan, document);
  if (said.ratios.empty()) return document;
  document.heading(fmt::format("Beside {}", said.ratios.front().beside));
  Table table({{"cluster"},
               {"time", kToRight},
               {"90 % range", kToRight},
               {"price", kToRight},
               {"energy", kToRight},
               {"carbon", kToRight}});
  for (const auto& r : said.ratios) {
    table.add({r.cluster, fmt::format("{:.2f} x", r.hours),
               fmt::format("{:.2f} to {:.2f} x", r.hours_low, r.hours_high), times_text(r.price), times_text(r.energy),
               times_text(r.carbon)});
  }
  document.add(table);
  document.paragraph("Range of the ratio: " + said.ratios.front().rests_on);
  return document;
}

}  // namespace assay::report
