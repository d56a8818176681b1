#include <algorithm>
#include <string_view>
#include <utility>

#include "assay/core/text/units.hpp"
#include "assay/core/workloads/learning.hpp"
#include "assay/core/workloads/scenario.hpp"
#include "assay/report/renderers/markdown.hpp"
#include "assay/report/renderers/terminal.hpp"
#include "assay/report/report.hpp"
#include "assay/report/results/generated.hpp"
#include "assay/report/results/learned.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

using Align = Table::Align;

/// "-1.9 +2.1 %": the interval's ends relative to the median, the form in which people compare precision.
std::string interval_text(const Result& result) {
  if (!result.median_interval || !result.median_ns || *result.median_ns <= 0) return "-";
  const double low = 100 * (1 - result.median_interval->low / *result.median_ns);
  const double high = 100 * (result.median_interval->high / *result.median_ns - 1);
  return fmt::format("-{:.1f} +{:.1f} %", low, high);
}

std::string runs_text(const Result& result) {
  std::string out = fmt::format("{}", result.ok);
  if (result.ok != result.runs) out += fmt::format("/{}", result.runs);
  return out + disturbed_text(result);
}

/// " (neighbours 2, steal 1)"
std::string reasons_text(const std::map<std::string, std::int64_t>& reasons) {
  std::string out;
  for (const auto& [code, runs] : reasons)
    out += fmt::format("{}{} {}", out.empty() ? " (" : ", ", fit(code, 40), runs);
  return out.empty() ? "" : out + ")";
}

std::string campaign_lines(const store::CampaignRow& campaign, const ReportData& data) {
  const auto& p = campaign.progress;
  std::string out = fmt::format("{} (campaign {}", campaign.name, campaign.id.substr(0, 8));
  if (campaign.round > 0) out += fmt::format(", round {}", campaign.round + 1);
  out += fmt::format("): {} of {} runs done", p.done, p.runs);
  if (p.failed > 0) out += fmt::format(", {} failed", p.failed);
  if (p.set_aside > 0) {
    const auto reasons = data.set_aside.find(campaign.id);
    out += fmt::format(", {} set aside and measured again{}", p.set_aside,
                       reasons == data.set_aside.end() ? "" : reasons_text(reasons->second));
  }
  return out + "\n";
}

void add_failures(const std::vector<Result>& results, std::string& out) {
  for (const auto& result : results) {
    for (const auto& [kind, failures] : result.failures) {
      out += fmt::format("  {} of {} runs {}: {}\n    {}\n", failures.runs, result.runs, name_of(kind),
                         title(result.trial), fit(failures.message, 200));
    }
  }
}

/// Runs whose median is that of no steady state, or of one that came by slowing down.
void add_unsteady(const Result& result, std::string& out) {
  for (const auto kind : {SteadyKind::slow_down, SteadyKind::no_steady_state}) {
    const auto it = result.details.steady.find(kind);
    if (it == result.details.steady.end()) continue;
    out += fmt::format("  {} of {} runs {}: {}\n", it->second, result.ok,
                       kind == SteadyKind::slow_down ? "became slower before they were steady"
                                                     : "had no steady state; all of their samples count",
                       title(result.trial));
  }
}

/// What stood in the way of runs, and settings that did not take effect as asked.
void add_remarks(const std::vector<Result>& results, std::string& out) {
  for (const auto& result : results) {
    add_unsteady(result, out);
    for (const auto& line : differences(result.trial.settings, result.details, result.ok)) {
      out += fmt::format("  {}: {}\n", fit(line, 200), title(result.trial));
    }
    for (const auto& reason : result.details.reasons) {
      if (reason.code == kScenarioReason) {
        out += fmt::format("  {}{}:\n    {}\n", title(result.trial),
                           reason.runs > 1 ? fmt::format(", first of {} runs", reason.runs) : "",
                           fit(reason.message, 300));
        continue;
      }
      out += fmt::format("  {} of {} runs {}: {}\n    {}\n", reason.runs, result.ok, fit(reason.code, 40),
                         title(result.trial), fit(reason.message, 300));
    }
  }
}

std::string phases_line(const Phases& phases) {
  std::string out;
  for (const char* name : {"load", "transfer", "forward", "backward", "communicate", "update", "prefill", "decode"}) {
    const auto it = phases.seconds.find(name);
    if (it == phases.seconds.end()) continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, format_duration(it->second * 1e9));
  }
  if (phases.sum_over_step) out += fmt::format(" (together {:.0f} % of the plain step)", 100 * *phases.sum_over_step);
  return out;
}

/// "61.2 GFLOP/s, 43 % of the best gemm here (trial 1a2b3c4d)"; of generated text "… in prefill, …". Empty where the
/// workload does not tell its FLOPs.
std::string achieved_text(const Result& result) {
  if (!result.flops_per_second) return "";
  const std::string rate =
      fmt::format("{:.1f} GFLOP/s{}", *result.flops_per_second / 1e9, result.generated ? " in prefill" : "");
  if (!result.share_of_peak) return fmt::format("{} ({})", rate, result.share_reason.value_or("no peak"));
  return fmt::format("{}, {:.0f} % of the best gemm here (trial {})", rate, 100 * *result.share_of_peak,
                     result.peak_trial.value_or("").substr(0, 8));
}

std::string energy_text(const Result& result) {
  if (!result.watts) return "absent; assay doctor says why, --meter names a program that measures it";
  auto text = fmt::format("{:.1f} W", *result.watts);
  if (result.samples_per_joule) text += fmt::format(", {:.4g} samples/J", *result.samples_per_joule);
  return text;
}

/// "12.1 GB/s at least, 62 % of what the roofline allows"; empty where the workload does not tell its bytes.
std::string traffic_text(const Result& result) {
  if (!result.bytes_per_second) return "";
  std::string text = fmt::format("{:.2f} GB/s at least", *result.bytes_per_second / 1e9);
  if (result.generated) text += " in decode";
  if (result.share_of_roofline)
    text += fmt::format(", {:.0f} % of {}", 100 * *result.share_of_roofline,
                        result.generated ? "the best triad here" : "what the roofline allows");
  return text;
}

/// What the runs of a trial have in common, a line each.
std::string detail_lines(const Result& result) {
  const auto& details = result.details;
  std::string out;
  std::string effective;
  for (const auto& [name, values] : details.effective) {
    if (name == kLearned) continue;  // lines of its own
    effective += fmt::format("{}{}=", effective.empty() ? "" : " ", name);
    const char* comma = "";
    for (const auto& one : values) effective += std::exchange(comma, ",") + one.value.dump();
  }
  if (!effective.empty()) out += "took effect: " + fit(effective, 300) + "\n";
  if (details.autocorrelation)
    out += fmt::format("autocorrelation of neighbouring samples: {:.2f}\n", *details.autocorrelation);
  if (const auto learned = learned_of(details)) out += learned_lines(*learned);
  if (result.generated) out += generated_lines(*result.generated, *result.trial.workload.generate);
  if (details.phases) out += "phases: " + phases_line(*details.phases) + "\n";
  if (details.layers_over_step)
    out += fmt::format("layers: together {:.0f} % of the plain step\n", 100 * *details.layers_over_step);
  if (details.peak_memory_bytes)
    out += fmt::format("peak memory: {}\n", format_bytes(static_cast<std::int64_t>(*details.peak_memory_bytes)));
  if (result.ok > 0) out += "energy: " + energy_text(result) + "\n";
  if (const auto achieved = achieved_text(result); !achieved.empty()) out += "achieved: " + achieved + "\n";
  if (const auto traffic = traffic_text(result); !traffic.empty()) out += "memory: " + traffic + "\n";
  return out;
}

/// Which columns say something of these results.
struct ResultColumns {
  bool p90 = false;
  bool p99 = false;
  bool share = false;
  bool roof = false;
  bool energy = false;
  bool memory = false;
  bool curve = false;
  bool tokens = false;   ///< some generate
  bool samples = false;  ///< some do not
  bool learned = false;  ///< some are trained to an accuracy
};

ResultColumns columns_of(const std::vector<Result>& results, bool curve) {
  const auto any = [&](const std::optional<double> Result::*share) {
    return std::any_of(results.begin(), results.end(), [&](const auto& r) { return (r.*share).has_value(); });
  };
  const auto any_tail = [&](const TailQuantile Result::*tail) {
    return std::any_of(results.begin(), results.end(), [&](const auto& r) { return (r.*tail).ns.has_value(); });
  };
  return {any_tail(&Result::p90),
          any_tail(&Result::p99),
          any(&Result::share_of_peak),
          any(&Result::share_of_roofline),
          any(&Result::samples_per_joule),
          std::any_of(results.begin(), results.end(),
                      [](const auto& r) { return r.details.peak_memory_bytes.has_value(); }),
          curve,
          std::any_of(results.begin(), results.end(), [](const auto& r) { return r.trial.workload.generate; }),
          !std::all_of(results.begin(), results.end(), [](const auto& r) { return r.trial.workload.generate; }),
          std::any_of(results.begin(), results.end(), [](const auto& r) { return learned_of(r.details); })};
}

/// In a narrow window curves go first, then what the median and the interval tell most of.
Table empty_table(const ResultColumns& has) {
  std::vector<Table::Column> columns{{"trial", Align::left, 0, true}, {"workload", Align::left},
                                     {"worker", Align::left, 1},      {"settings", Align::left},
                                     {"median", Align::right},        {"95 % interval", Align::right}};
  if (has.p90) columns.push_back({"p90", Align::right, 4});
  if (has.p99) columns.push_back({"p99", Align::right, 5});
  if (has.tokens) {
    columns.push_back({"first token", Align::right});
    columns.push_back({"per token", Align::right});
    columns.push_back({"tokens/s in", Align::right, 5});
    columns.push_back({"tokens/s out", Align::right});
  }
  if (has.learned) {
    columns.push_back({"to accuracy", Align::right});
    columns.push_back({"epochs", Align::right});
    columns.push_back({"reached", Align::right});
  }
  if (has.samples) columns.push_back({"samples/s", Align::right});
  if (has.share) columns.push_back({"of peak", Align::right, 3});
  if (has.roof) columns.push_back({"of roofline", Align::right, 6});
  if (has.energy) columns.push_back({"samples/J", Align::right, 2});
  if (has.memory) columns.push_back({"memory", Align::right, 3});
  columns.push_back({"runs", Align::right});
  if (has.curve) columns.push_back({"in time", Align::left, 7, true});
  return Table(std::move(columns));
}

/// The most that a run's processes had resident, in the middle of the runs.
std::string memory_text(const Result& result) {
  const auto& bytes = result.details.peak_memory_bytes;
  return bytes ? format_bytes(static_cast<std::int64_t>(*bytes)) : "-";
}

void add_token_cells(const Result& result, std::vector<std::string>& cells) {
  const auto& g = result.generated;
  cells.push_back(g ? format_duration(static_cast<double>(g->first_token_ns)) : "-");
  cells.push_back(g && g->token_ns ? format_duration(static_cast<double>(*g->token_ns)) : "-");
  cells.push_back(g ? format_rate(g->prompt_tokens_per_second) : "-");
  cells.push_back(g ? format_rate(g->output_tokens_per_second) : "-");
}

void add_learned_cells(const Result& result, std::vector<std::string>& cells) {
  const auto learned = learned_of(result.details);
  cells.push_back(learned ? duration_or_dash(learned->ns) : "-");
  cells.push_back(learned && learned->epochs ? fmt::format("{:g}", *learned->epochs) : "-");
  cells.push_back(learned ? fmt::format("{} of {}", learned->reached, learned->runs) : "-");
}

Table trials_table(const std::vector<Result>& results, bool curve) {
  constexpr std::size_t kCurve = 12;
  const auto has = columns_of(results, curve);
  Table table = empty_table(has);
  for (const auto& result : results) {
    std::vector<std::string> cells{result.trial_id.substr(0, 8),
                                   title(result.trial.workload),
                                   result.trial.worker.name + " " + result.trial.worker.release,
                                   conditions(result.trial),
                                   duration_or_dash(result.median_ns),
                                   interval_text(result)};
    if (has.p90) cells.push_back(duration_or_dash(result.p90.ns));
    if (has.p99) cells.push_back(duration_or_dash(result.p99.ns));
    if (has.tokens) add_token_cells(result, cells);
    if (has.learned) add_learned_cells(result, cells);
    if (has.samples) cells.push_back(result.samples_per_second ? format_rate(*result.samples_per_second) : "-");
    if (has.share) cells.push_back(share_or_dash(result.share_of_peak));
    if (has.roof) cells.push_back(share_or_dash(result.share_of_roofline));
    if (has.energy) cells.push_back(result.samples_per_joule ? fmt::format("{:.4g}", *result.samples_per_joule) : "-");
    if (has.memory) cells.push_back(memory_text(result));
    cells.push_back(runs_text(result));
    if (has.curve) cells.push_back(spark_line(result.run_medians_ns, kCurve, true));
    table.add(std::move(cells));
  }
  return table;
}

/// What stands below the table, a line each; those that go on begin with four blanks.
std::string notes_text(const std::vector<Result>& results) {
  std::string out;
  if (std::any_of(results.begin(), results.end(), [](const auto& r) { return r.ok > 0 && !r.median_interval; }))
    out += "An interval needs 6 good runs of a trial; ask for more with --runs.\n";
  add_failures(results, out);
  add_remarks(results, out);
  return out;
}

}  // namespace

std::string terminal_report(const ReportData& data, const Look& look) {
  std::string out;
  for (const auto& campaign : data.campaigns) out += campaign_lines(campaign, data);
  if (data.results.empty()) return out + "No run has been measured yet.\n";
  const auto table = trials_table(data.results, look.width > 0 && look.blocks);
  out += table.text(look.width) + table.room_note(look.width);
  return out + notes_text(data.results) + settings_maps(data.results, look.colour);
}

std::string markdown_results(const ReportData& data) {
  std::string out;
  for (const auto& campaign : data.campaigns) {
    auto line = campaign_lines(campaign, data);
    line.pop_back();
    out += "**" + markdown_text(line) + "**\n\n";
  }
  if (data.results.empty()) return out + "No run has been measured yet.\n";
  out += trials_table(data.results, false).markdown() + "\n";
  const auto notes = notes_text(data.results);
  for (std::size_t begin = 0; begin < notes.size();) {
    const auto end = notes.find('\n', begin);
    const auto line = std::string_view(notes).substr(begin, end - begin);
    const auto text = markdown_text(line.substr(std::min(line.find_first_not_of(' '), line.size())));
    out += line.starts_with("    ") ? "  " + text + "\n" : "- " + text + "\n";
    begin = end + 1;
  }
  return out;
}

namespace {

/// "steal: the hypervisor took CPU time (17 %)": what made a run untrusted.
std::string disturbance_text(const store::RunRow& row) {
  std::string out;
  for (const auto& reason : row.digest.reasons) {
    if (reason.passing) out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", reason.code, reason.message);
  }
  return "disturbed" + (out.empty() ? "" : " by " + out);
}

std::string ns_or_dash(const std::optional<std::int64_t>& value) {
  return value ? format_duration(static_cast<double>(*value)) : "-";
}

/// "31.2 ms (30.9 ms to 33 ms)": a quantile of a run with its interval.
std::string tail_text(const Summary& summary, TailPercent percent) {
  const auto ns = tail_ns(summary, percent);
  const auto& interval = percent == TailPercent::p90 ? summary.p90_interval : summary.p99_interval;
  if (!ns || !interval) return ns_or_dash(ns);
  return fmt::format("{} ({} to {})", ns_or_dash(ns), ns_or_dash(interval->low_ns), ns_or_dash(interval->high_ns));
}

}  // namespace

std::string trial_report(const store::TrialRow& trial, const std::vector<store::RunRow>& rows,
                         const std::vector<Result>& results, std::size_t width) {
  std::string out = fmt::format("{}\ntrial {}\n", title(trial.trial), trial.id);
  for (const auto& result : results) {
    if (results.size() > 1) out += fmt::format("on platform {}:\n", result.platform.substr(0, 8));
    out += detail_lines(result);
  }
  Table table({{"run", Align::right},
               {"attempt", Align::right, 4},
               {"outcome", Align::left},
               {"median", Align::right},
               {"p90", Align::right, 2},
               {"p99", Align::right, 3},
               {"samples", Align::right, 1},
               {"steady", Align::left},
               {"started", Align::left},
               {"remark", Align::left}});
  for (const auto& row : rows) {
    const auto& s = row.summary;
    std::string remark = row.outcome != OutcomeKind::ok ? row.message : row.trusted ? "" : disturbance_text(row);
    if (!row.counted) remark = "measured again" + (remark.empty() ? "" : ": " + remark);
    table.add({std::to_string(row.index), std::to_string(row.attempt), name_of(row.outcome), ns_or_dash(s.median_ns),
               tail_text(s, TailPercent::p90), tail_text(s, TailPercent::p99), std::to_string(s.n),
               row.digest.steady ? words_of(name_of(row.digest.steady->kind)) +
                                       (s.steady_from > 0 ? fmt::format(", from {}", s.steady_from) : "")
                                 : "-",
               row.started_utc, remark});
  }
  out += table.text(width) + table.room_note(width);
  add_remarks(results, out);
  return out;
}

}  // namespace assay::report
