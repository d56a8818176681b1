#include <algorithm>

#include "assay/core/text/units.hpp"
#include "assay/core/workloads/learning.hpp"
#include "assay/report/renderers/terminal.hpp"
#include "assay/report/report.hpp"
#include "assay/report/results/learned.hpp"
#include "assay/report/results/remarks.hpp"
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

std::string campaign_line(const store::CampaignRow& campaign, const ReportData& data) {
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
  return out;
}

void add_failures(const std::vector<Result>& results, Document& out) {
  for (const auto& result : results) {
    for (const auto& [kind, failures] : result.failures) {
      out.item(fmt::format("{} of {} runs {}: {}", failures.runs, result.runs, name_of(kind), title(result.trial)));
      out.item(fit(failures.message, 200), 2);
    }
  }
}

/// Which columns say something of these results.
struct ResultColumns {
  bool p90 = false;
  bool p99 = false;
  bool share = false;
  bool roof = false;
  bool energy = false;
  bool memory = false;
  bool tokens = false;   ///< some generate
  bool samples = false;  ///< some do not
  bool learned = false;  ///< some are trained to an accuracy
};

ResultColumns columns_of(const std::vector<Result>& results) {
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
  columns.push_back({.title = "in time", .spare = 7, .whole = true, .drawn = true});
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

Table trials_table(const std::vector<Result>& results) {
  constexpr std::size_t kCurve = 12;
  const auto has = columns_of(results);
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
    cells.push_back(spark_line(result.run_medians_ns, kCurve, true));
    table.add(std::move(cells));
  }
  return table;
}

}  // namespace

Document results_document(const ReportData& data) {
  Document out;
  for (const auto& campaign : data.campaigns) out.paragraph(campaign_line(campaign, data));
  const auto& results = data.results;
  if (results.empty()) {
    out.paragraph("No run has been measured yet.");
    return out;
  }
  out.add(trials_table(results));
  if (std::any_of(results.begin(), results.end(), [](const auto& r) { return r.ok > 0 && !r.median_interval; }))
    out.paragraph("An interval needs 6 good runs of a trial; ask for more with --runs.");
  add_failures(results, out);
  add_remarks(results, out);
  out.append(settings_maps(results));
  return out;
}

}  // namespace assay::report
