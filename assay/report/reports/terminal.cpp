#include <algorithm>

#include <utility>

#include "assay/core/units.hpp"
#include "assay/report/report.hpp"
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
  if (result.untrusted > 0) out += fmt::format(" ({} disturbed)", result.untrusted);
  return out;
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
      out += fmt::format("  {} of {} runs {}: {}\n    {}\n", reason.runs, result.ok, fit(reason.code, 40),
                         title(result.trial), fit(reason.message, 300));
    }
  }
}

std::string phases_line(const Phases& phases) {
  std::string out;
  for (const char* name : {"load", "transfer", "forward", "backward", "communicate", "update"}) {
    const auto it = phases.seconds.find(name);
    if (it == phases.seconds.end()) continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, format_duration(it->second * 1e9));
  }
  if (phases.sum_over_step) out += fmt::format(" (together {:.0f} % of the plain step)", 100 * *phases.sum_over_step);
  return out;
}

/// "61.2 GFLOP/s, 43 % of the best gemm here (trial 1a2b3c4d)"; empty where the workload does not tell its FLOPs.
std::string achieved_text(const Result& result) {
  if (!result.flops_per_second) return "";
  const std::string rate = fmt::format("{:.1f} GFLOP/s", *result.flops_per_second / 1e9);
  if (!result.share_of_peak) return fmt::format("{} ({})", rate, result.share_reason.value_or("no peak"));
  return fmt::format("{}, {:.0f} % of the best gemm here (trial {})", rate, 100 * *result.share_of_peak,
                     result.peak_trial.value_or("").substr(0, 8));
}

/// What the runs of a trial have in common, a line each.
std::string detail_lines(const Result& result) {
  const auto& details = result.details;
  std::string out;
  std::string effective;
  for (const auto& [name, values] : details.effective) {
    effective += fmt::format("{}{}=", effective.empty() ? "" : " ", name);
    const char* comma = "";
    for (const auto& one : values) effective += std::exchange(comma, ",") + one.value.dump();
  }
  if (!effective.empty()) out += "took effect: " + fit(effective, 300) + "\n";
  if (details.autocorrelation)
    out += fmt::format("autocorrelation of neighbouring samples: {:.2f}\n", *details.autocorrelation);
  if (details.phases) out += "phases: " + phases_line(*details.phases) + "\n";
  if (details.layers_over_step)
    out += fmt::format("layers: together {:.0f} % of the plain step\n", 100 * *details.layers_over_step);
  if (details.peak_memory_bytes)
    out += fmt::format("peak memory: {}\n", format_bytes(static_cast<std::int64_t>(*details.peak_memory_bytes)));
  if (const auto achieved = achieved_text(result); !achieved.empty()) out += "achieved: " + achieved + "\n";
  return out;
}

}  // namespace

std::string terminal_report(const ReportData& data, std::size_t width) {
  std::string out;
  for (const auto& campaign : data.campaigns) out += campaign_lines(campaign, data);
  if (data.results.empty()) return out + "No run has been measured yet.\n";
  const bool any_share =
      std::any_of(data.results.begin(), data.results.end(), [](const auto& r) { return r.share_of_peak; });
  std::vector<Table::Column> columns{
      {"trial", Align::left},    {"workload", Align::left}, {"worker", Align::left},
      {"settings", Align::left}, {"median", Align::right},  {"95 % interval", Align::right},
      {"p90", Align::right},     {"p99", Align::right},     {"samples/s", Align::right}};
  if (any_share) columns.push_back({"of peak", Align::right});
  columns.push_back({"runs", Align::right});
  Table table(std::move(columns));
  bool short_of_runs = false;
  for (const auto& result : data.results) {
    short_of_runs = short_of_runs || (result.ok > 0 && !result.median_interval);
    std::vector<std::string> cells{result.trial_id.substr(0, 8),
                                   title(result.trial.workload),
                                   result.trial.worker.name + " " + result.trial.worker.release,
                                   conditions(result.trial),
                                   duration_or_dash(result.median_ns),
                                   interval_text(result),
                                   duration_or_dash(result.p90_ns),
                                   duration_or_dash(result.p99_ns),
                                   result.samples_per_second ? format_rate(*result.samples_per_second) : "-"};
    if (any_share) cells.push_back(result.share_of_peak ? fmt::format("{:.0f} %", 100 * *result.share_of_peak) : "-");
    cells.push_back(runs_text(result));
    table.add(std::move(cells));
  }
  out += table.text(width);
  if (short_of_runs) out += "An interval needs 6 good runs of a trial; ask for more with --runs.\n";
  add_failures(data.results, out);
  add_remarks(data.results, out);
  return out;
}

std::string trial_report(const store::TrialRow& trial, const std::vector<store::RunRow>& rows,
                         const std::vector<Result>& results, std::size_t width) {
  std::string out = fmt::format("{}\ntrial {}\n", title(trial.trial), trial.id);
  for (const auto& result : results) {
    if (results.size() > 1) out += fmt::format("on platform {}:\n", result.platform.substr(0, 8));
    out += detail_lines(result);
  }
  Table table({{"run", Align::right},
               {"attempt", Align::right},
               {"outcome", Align::left},
               {"median", Align::right},
               {"p90", Align::right},
               {"p99", Align::right},
               {"samples", Align::right},
               {"steady", Align::left},
               {"started", Align::left},
               {"remark", Align::left}});
  for (const auto& row : rows) {
    const auto& s = row.summary;
    std::string remark = row.outcome != OutcomeKind::ok ? row.message : row.trusted ? "" : "disturbed";
    if (!row.counted) remark = "measured again" + (remark.empty() ? "" : ": " + remark);
    const auto ns = [](const std::optional<std::int64_t>& value) {
      return value ? format_duration(static_cast<double>(*value)) : "-";
    };
    table.add({std::to_string(row.index), std::to_string(row.attempt), name_of(row.outcome), ns(s.median_ns),
               ns(s.p90_ns), ns(s.p99_ns), std::to_string(s.n),
               row.digest.steady ? words_of(name_of(row.digest.steady->kind)) +
                                       (s.steady_from > 0 ? fmt::format(", from {}", s.steady_from) : "")
                                 : "-",
               row.started_utc, remark});
  }
  out += table.text(width);
  add_remarks(results, out);
  return out;
}

}  // namespace assay::report
