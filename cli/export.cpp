#include <memory>
#include <unordered_map>

#include "assay/report/report.hpp"
#include "assay/store/store.hpp"
#include "cli/campaign.hpp"
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

void export_csv(store::Store& store, const store::Filter& filter, Output& out) {
  std::unordered_map<std::string, Trial> trials;
  for (auto& row : store.trials(filter)) trials.emplace(row.id, std::move(row.trial));
  out.write(report::csv_header());
  store.records(filter, [&](const Record& record) { out.write(report::csv_row(record, trials.at(record.trial))); });
}

void export_json(store::Store& store, const store::Filter& filter, Output& out) {
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

void export_store(const ExportOptions& o) {
  const auto store = store::open_store(o.store, store::Access::read);
  store::Filter filter{"", o.trial, !o.all_attempts};
  if (!o.campaign.empty()) filter.campaign = choose_campaign(store->campaigns(), o.campaign, o.store).id;
  Output out(o.output);
  if (o.format == "csv") {
    export_csv(*store, filter, out);
  } else if (o.format == "json") {
    export_json(*store, filter, out);
  } else {
    store->records(filter, [&](const Record& record) { out.write(record_text(record) + "\n"); });
  }
  out.finish();
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("export", "Write records for other programs: JSON, JSON lines or CSV");
  const auto o = std::make_shared<ExportOptions>();
  add_store_option(*command, o->store);
  command->add_option("campaign", o->campaign, "Name of a campaign, or the first digits of its id; else all");
  command->add_option("--trial", o->trial, "First digits of a trial's id");
  command
      ->add_option("--format", o->format,
                   "jsonl: a record a line; json: one document; csv: a run a line, without samples")
      ->check(CLI::IsMember({"json", "jsonl", "csv"}))
      ->capture_default_str();
  command->add_option("-o,--output", o->output, "File in place of standard output");
  command->add_flag("--all-attempts", o->all_attempts, "Also attempts that were measured again");
  command->callback([o, &exit_code] {
    export_store(*o);
    exit_code = 0;
  });
}

}  // namespace assay::cli
