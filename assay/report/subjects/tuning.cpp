#include "assay/report/subjects/tuning.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "assay/core/text/units.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::report {
namespace {

std::string ratio_text(const tune::Ratio& ratio) {
  return ratio.value ? fmt::format("{:.3f}x", *ratio.value) : "-";
}

std::string interval_text(const tune::Ratio& ratio) {
  return ratio.low && ratio.high ? fmt::format("{:.3f} to {:.3f}", *ratio.low, *ratio.high) : "-";
}

/// "partly inert: KMP_BLOCKTIME, library_threads": names alone, the reasons are in the JSON and in the dry run.
std::string inert_text(const std::vector<std::string>& inert) {
  std::string names;
  for (const auto& one : inert) {
    const auto end = one.find_first_of("=:");
    names += (names.empty() ? "" : ", ") + one.substr(0, end);
  }
  return names.empty() ? "" : "partly inert: " + names;
}

Table gains_table(const std::vector<tune::Gain>& gains) {
  Table table({{"over"}, {"its settings"}, {"gain", Table::Align::right}, {"95 % interval"}, {"remark"}});
  for (const auto& gain : gains) {
    auto remark = inert_text(gain.inert);
    if (gain.same) remark = remark.empty() ? "these are the best" : "these are the best; " + remark;
    table.add({gain.baseline, title(gain.settings), gain.same ? "1" : ratio_text(gain.gain),
               gain.same ? "" : interval_text(gain.gain), remark});
  }
  return table;
}

Table factors_table(const std::vector<tune::GainFactor>& factors) {
  Table table({{"kind"}, {"change"}, {"gain", Table::Align::right}, {"95 % interval"}});
  double product = 1;
  for (const auto& factor : factors) {
    product *= factor.gain.value.value_or(1);
    table.add({factor.name, factor.settings, ratio_text(factor.gain), interval_text(factor.gain)});
  }
  table.add({"all", "", fmt::format("{:.3f}x", product), ""});
  return table;
}

std::string cost_text(const std::string& goal, double seconds) {
  if (goal.starts_with("throughput") || goal.starts_with("rate")) return format_rate(1 / seconds);
  if (goal.starts_with("tokens")) return format_rate(1 / seconds) + " of tokens";
  return format_duration(seconds * 1e9) + " a step";
}

/// "Best: spin=false", or that nothing better than the framework's own settings was proved.
std::string best_text(const tune::Tuning& tuning) {
  const auto queue = tune::queue_of(tuning);
  const auto best = (queue ? title(*queue) + ", " : "") + title(tuning.settings);
  if (!tuning.results || !tuning.results->within_limit) return "Best: " + best;
  for (const auto& gain : tuning.results->gains) {
    if (gain.baseline != "framework-default" || gain.same || !gain.gain.value) continue;
    if (gain.gain.low && *gain.gain.low > 1) break;
    return fmt::format("No proved gain; keep the default. The fastest that was measured: {}", best);
  }
  return "Best: " + best;
}

/// "The limit of latency@p99<2ms is kept (99 % confidence): 1 of 1321 steps took longer."
std::string limit_text(const tune::Tuning& tuning) {
  const auto& results = *tuning.results;
  if (!results.limit) {
    if (results.within_limit) return "";
    return fmt::format("None that was measured keeps the limit of {}: these come nearest.", tuning.goal);
  }
  const auto counts =
      fmt::format("{} of {} {}", results.limit->over, results.limit->samples,
                  tuning.goal.find("@ttft<") == std::string::npos ? "steps took longer" : "answers began later");
  switch (results.limit->verdict) {
    case stats::Kept::proved:
      return fmt::format("The limit of {} is kept (99 % confidence): {}.", tuning.goal, counts);
    case stats::Kept::broken:
      return fmt::format("None that was measured keeps the limit of {}: these come nearest, and {}.", tuning.goal,
                         counts);
    case stats::Kept::undecided:
      break;
  }
  return fmt::format(
      "Whether the limit of {} is kept is not decided: {}. More steps decide it: --seconds 10s, or more --pairs.",
      tuning.goal, counts);
}

void add_outcome(const tune::Tuning& tuning, Document& out) {
  out.paragraph(fmt::format("{} on {} {}, for {}", title(tuning.workload), tuning.worker.name, tuning.worker.release,
                            tuning.goal));
  out.paragraph(title(tuning.resources));
  out.gap();
  if (!tuning.results) return out.paragraph(best_text(tuning));
  const auto& results = *tuning.results;
  out.paragraph(best_text(tuning) + (results.seconds ? "   " + cost_text(tuning.goal, *results.seconds) : ""));
  out.paragraph(fmt::format("{} of {} candidates measured in {} runs ({:.0f} s), and {} runs to measure the gain again",
                            results.tried.size(), results.candidates, results.search_runs, results.search_seconds,
                            results.verify_runs));
  if (const auto limit = limit_text(tuning); !limit.empty()) out.paragraph(limit);
}

}  // namespace

Document tuning_document(const tune::Tuning& tuning) {
  const auto results = tuning.results.value_or(tune::Results{});
  Document out;
  add_outcome(tuning, out);
  if (!results.gains.empty()) {
    out.heading("Gain of the best, measured again");
    out.add(gains_table(results.gains));
  }
  if (!results.factors.empty()) {
    out.heading("Where the gain over framework-default comes from, each with those above it in place");
    out.add(factors_table(results.factors));
  }
  if (const auto map = heat_map(results.tried, false); !map.empty()) {
    out.heading("Cost relative to the cheapest measured, over numbers of threads");
    out.add(CharacterMap{map, heat_map(results.tried, true)});
  }
  out.gap();
  out.paragraph(fmt::format("To use it:  assay exec --tuned {} -- PROGRAM …", tuning.name));
  out.paragraph(fmt::format("Elsewhere:  assay tune --tuned {} --emit {}", tuning.name,
                            "env|sh|json|python|slurm|k8s|gunicorn|triton"));
  return out;
}

Document journal_document(const tune::Tuning& tuning) {
  Document out;
  if (!tuning.results) out.paragraph("This tuning has no journal.");
  std::size_t number = 0;
  for (const auto& entry : tuning.results.value_or(tune::Results{}).journal) {
    auto text = fmt::format("{:>3}  {:<11}  {}", ++number, entry.why, entry.what);
    if (entry.against) text += " against " + *entry.against;
    if (entry.seconds) text += "  " + cost_text(tuning.goal, *entry.seconds);
    if (entry.ratio) text += fmt::format("  ratio {:.3f}", *entry.ratio);
    if (entry.expected_seconds) text += fmt::format("  (expected {})", cost_text(tuning.goal, *entry.expected_seconds));
    out.paragraph(text);
    if (!entry.decision.empty()) out.paragraph("       " + entry.decision);
  }
  return out;
}

Document tune_plan_document(const TunePlan& plan) {
  Document out;
  out.paragraph(
      fmt::format("{} on {} {}, for {}", title(plan.workload), plan.worker.name, plan.worker.release, plan.goal));
  out.paragraph(title(plan.resources));
  out.gap();
  out.paragraph(plan.rule);
  out.paragraph("Guides");
  Table table({{"guide"}, {"settings that act"}, {"what does not, and why"}});
  for (const auto& rival : plan.candidates.rivals) {
    const auto& baseline = rival.baseline;
    table.add({baseline.name, title(baseline.settings), baseline.inert.empty() ? "" : baseline.inert.front()});
    for (std::size_t i = 1; i < baseline.inert.size(); ++i) table.add({"", "", baseline.inert[i]});
  }
  out.add(std::move(table));
  out.gap();
  out.paragraph(fmt::format("{} candidates; varied: {}", plan.candidates.trials.size(),
                            fmt::join(tune::varied_of(plan.candidates.trials), ", ")));
  for (const auto& one : plan.space.left_out) out.paragraph("not varied: " + one);
  return out;
}

json json_tune_plan(const TunePlan& plan) {
  json out = {{"workload", to_json(plan.workload)},
              {"worker", to_json(plan.worker)},
              {"goal", plan.goal},
              {"resources", to_json(plan.resources)},
              {"rule", plan.rule},
              {"varied", tune::varied_of(plan.candidates.trials)},
              {"left_out", plan.space.left_out},
              {"baselines", json::array()},
              {"candidates", json::array()}};
  for (const auto& rival : plan.candidates.rivals) {
    const auto& baseline = rival.baseline;
    out["baselines"].push_back({{"baseline", baseline.name},
                                {"says", baseline.says},
                                {"settings", to_json(baseline.settings)},
                                {"inert", baseline.inert},
                                {"trial_id", trial_id(plan.candidates.trials.at(rival.candidate))}});
  }
  for (const auto& trial : plan.candidates.trials) {
    out["candidates"].push_back({{"trial_id", trial_id(trial)}, {"trial", to_json(trial)}});
  }
  return out;
}

}  // namespace assay::report
