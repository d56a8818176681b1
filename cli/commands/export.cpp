#include <filesystem>
#include <memory>
#include <unordered_map>

#include "assay/report/exports/chrome_trace.hpp"
#include "assay/report/exports/prometheus.hpp"
#include "assay/report/report.hpp"
#include "assay/report/results/results.hpp"
#include "assay/store/selection.hpp"
#include "assay/store/store.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace assay::cli {
namespace {

struct ExportOptions {
  std::string store = "assay.db";
  std::string campaign;
  std::string trial;
  std::string format = "jsonl";
  std::string output;
  bool all_attempts = false;
};

std::string record_text(const Record& record) {
  return to_json(record).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::unordered_map<std::string, Trial> trials_by_id(store::Archive& store, const store::Filter& filter) {
  std::unordered_map<std::string, Trial> trials;
  for (auto& row : store.trials(filter)) trials.emplace(row.id, std::move(row.trial));
  return trials;
}

void export_csv(store::Archive& store, const store::Filter& filter, Output& out) {
  const auto trials = trials_by_id(store, filter);
  out.write(report::csv_header());
  store.records(filter, [&](const Record& record) { out.write(report::csv_row(record, trials.at(record.trial))); });
}

void export_json(store::Archive& store, const store::Filter& filter, Output& out) {
  out.write("{\"trials\": [");
  const char* comma = "\n";
  for (const auto& row : store.trials(filter)) {
    out.write(comma + json{{"trial_id", row.id}, {"trial", to_json(row.trial)}}.dump());
    comma = ",\n";
  }
  out.write("],\n\"records\": [");
  comma = "\n";
  store.records(filter, [&](const Record& record) {
    out.write(comma + record_text(record));
    comma = ",\n";
  });
  out.write("]}\n");
}

void export_trace(store::Archive& store, const store::Filter& filter, Output& out) {
  const auto trials = trials_by_id(store, filter);
  report::ChromeTrace trace([&](const std::string& text) { out.write(text); });
  store.records(filter, [&](const Record& record) { trace.add(record, trials.at(record.trial)); });
  trace.finish();
}

/// A collector may read at any time: the file is whole when it gets its name.
void export_prometheus(const std::vector<report::Result>& results, const std::string& path) {
  const auto text = report::prometheus_report(results);
  if (path.empty()) return print(text);
  write_output(path + ".part", text);
  std::error_code error;
  std::filesystem::rename(path + ".part", path, error);
  if (error) fail(ErrorKind::failure, "cannot write {}: {}", path, error.message());
}

void export_store(const ExportOptions& o) {
  const auto store = store::open_store(o.store, store::Access::read);
  store::Filter filter{"", o.trial, !o.all_attempts};
  std::optional<store::CampaignRow> campaign;
  if (!o.campaign.empty()) campaign = store::choose_campaign(store->campaigns(), o.campaign, o.store);
  if (campaign) filter.campaign = campaign->id;
  if (o.format == "prometheus") {
    if (o.all_attempts)
      fail(ErrorKind::usage, "--all-attempts: medians are made of the attempts that count. Leave it out.");
    return export_prometheus(campaign
                                 ? report::results_of_campaign(*campaign, store->trials(filter), store->runs(filter))
                                 : report::results_of(*store, filter),
                             o.output);
  }
  Output out(o.output);
  if (o.format == "csv") {
    export_csv(*store, filter, out);
  } else if (o.format == "json") {
    export_json(*store, filter, out);
  } else if (o.format == "chrome-trace") {
    export_trace(*store, filter, out);
  } else {
    store->records(filter, [&](const Record& record) { out.write(record_text(record) + "\n"); });
  }
  out.finish();
}

void add_export(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<ExportOptions>();
  add_store_option(command, o->store);
  command.add_option("campaign", o->campaign, "Write this campaign, by name or the first digits of its id [all]");
  command.add_option("--trial", o->trial, "Write only the trial whose id begins so");
  command
      .add_option("--format", o->format,
                  "Write in this format. jsonl: a record a line; json: one document; csv: a run a line, without "
                  "samples; chrome-trace: steps, "
                  "phases and layers for Perfetto; prometheus: results for the node exporter's textfile collector")
      ->check(CLI::IsMember({"json", "jsonl", "csv", "chrome-trace", "prometheus"}))
      ->capture_default_str();
  command.add_option("-o,--output", o->output, "Write to this file in place of standard output");
  command.add_flag("--all-attempts", o->all_attempts, "Include attempts that were measured again");
  command.callback([o, &invocation] {
    export_store(*o);
    invocation.exit_code = 0;
  });
}

}  // namespace

const Command commands::export_records{
    "export", "Write records for other programs: JSON, CSV, a Chrome trace or metrics for Prometheus", add_export};

}  // namespace assay::cli
