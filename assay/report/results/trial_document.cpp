#include <utility>

#include "assay/core/text/units.hpp"
#include "assay/core/workloads/learning.hpp"
#include "assay/report/report.hpp"
#include "assay/report/results/generated.hpp"
#include "assay/report/results/learned.hpp"
#include "assay/report/results/remarks.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

using Align = Table::Align;

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

/// "took effect: threads=2 math=a,b"; empty where nothing was read back.
std::string effective_text(const Details& details) {
  std::string effective;
  for (const auto& [name, values] : details.effective) {
    if (name == kLearned) continue;  // a line of its own
    effective += fmt::format("{}{}=", effective.empty() ? "" : " ", name);
    const char* comma = "";
    for (const auto& one : values) effective += std::exchange(comma, ",") + one.value.dump();
  }
  return effective.empty() ? "" : "took effect: " + fit(effective, 300);
}

/// What the runs of a trial have in common, a line each.
void add_details(const Result& result, Document& out) {
  const auto& details = result.details;
  if (const auto effective = effective_text(details); !effective.empty()) out.paragraph(effective);
  if (details.autocorrelation)
    out.paragraph(fmt::format("autocorrelation of neighbouring samples: {:.2f}", *details.autocorrelation));
  if (const auto learned = learned_of(details)) out.paragraph(learned_line(*learned));
  if (result.generated) {
    for (auto& line : generated_lines(*result.generated, *result.trial.workload.generate))
      out.paragraph(std::move(line));
  }
  if (details.phases) out.paragraph("phases: " + phases_line(*details.phases));
  if (details.layers_over_step)
    out.paragraph(fmt::format("layers: together {:.0f} % of the plain step", 100 * *details.layers_over_step));
  if (details.peak_memory_bytes)
    out.paragraph("peak memory: " + format_bytes(static_cast<std::int64_t>(*details.peak_memory_bytes)));
  if (result.ok > 0) out.paragraph("energy: " + energy_text(result));
  if (const auto achieved = achieved_text(result); !achieved.empty()) out.paragraph("achieved: " + achieved);
  if (const auto traffic = traffic_text(result); !traffic.empty()) out.paragraph("memory: " + traffic);
}

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

Table runs_table(const std::vector<store::RunRow>& rows) {
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
  return table;
}

}  // namespace

Document trial_document(const store::TrialRow& trial, const std::vector<store::RunRow>& rows,
                        const std::vector<Result>& results) {
  Document out;
  out.paragraph(title(trial.trial));
  out.paragraph("trial " + trial.id);
  for (const auto& result : results) {
    if (results.size() > 1) out.paragraph(fmt::format("on platform {}:", result.platform.substr(0, 8)));
    add_details(result, out);
  }
  out.add(runs_table(rows));
  add_remarks(results, out);
  return out;
}

}  // namespace assay::report
