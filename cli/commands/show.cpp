#include <map>
#include <memory>

#include "assay/report/report.hpp"
#include "assay/report/results/gathered_evidence.hpp"
#include "assay/report/results/results.hpp"
#include "assay/report/results/submissions.hpp"
#include "assay/report/subjects/fleet.hpp"
#include "assay/report/subjects/layers/layers.hpp"
#include "assay/store/selection.hpp"
#include "assay/store/store.hpp"
#include "cli/command.hpp"
#include "cli/commands/show_network.hpp"
#include "cli/flags/answer.hpp"
#include "cli/help.hpp"
#include "cli/stop.hpp"

namespace assay::cli {
namespace {

struct ShowOptions {
  std::string store = "assay.db";
  std::string campaign;
  std::string trial;
  bool all = false;
  bool layers = false;
  bool fleet = false;
  double watch_seconds = 0;
  bool roofline = false;
  bool fastest = false;
  AnswerFlags answer;
  NetworkFlags network;
};

/// The one that was named, all, or the newest.
std::vector<store::CampaignRow> choose_campaigns(std::vector<store::CampaignRow> all, const ShowOptions& o) {
  if (o.all || all.empty()) return all;
  if (o.campaign.empty()) return {all.back()};
  return {store::choose_campaign(all, o.campaign, o.store)};
}

/// The slowest layers on each platform: numbers of two are never mixed.
report::Document layers_of(store::Store& store, const store::TrialRow& trial, store::Filter filter) {
  constexpr std::size_t kMostLayers = 20;
  filter.counted_only = true;
  std::map<std::string, report::LayerTimes> times;
  store.records(filter, [&](const Record& record) { times[record.platform].add(record); });
  report::Document out;
  for (const auto& [platform, of_platform] : times) {
    const auto layers = of_platform.times();
    if (layers.empty()) continue;
    if (times.size() > 1) out.paragraph(fmt::format("on platform {}:", platform.substr(0, 8)));
    out.append(report::layers_document(trial.trial.workload, layers, kMostLayers));
  }
  if (out.empty()) out.paragraph("No run of this trial timed layers; measure with --layers.");
  return out;
}

void show_trial(store::Store& store, const ShowOptions& o) {
  const store::Filter filter{"", o.trial, false};
  const auto trials = store.trials(filter);
  const auto trial = store::choose_trial(trials, o.trial, o.store);
  const auto rows = store.runs(filter);
  auto results = report::results_of(trials, rows);
  report::add_shares(store, results);
  auto document = report::trial_document(trial, rows, results);
  if (o.layers) {
    document.gap();
    document.append(layers_of(store, trial, filter));
  }
  answer(o.answer, document, [&] {
    report::ReportData data;
    data.results = std::move(results);
    return report::json_report(data);
  });
}

/// False where every run is done.
bool show_fleet(store::Store& store, const ShowOptions& o) {
  const auto campaigns = store.campaigns();
  if (campaigns.empty()) fail(ErrorKind::usage, "there is no campaign yet. `assay run --plan-only` makes one.");
  const auto campaign = o.campaign.empty() ? campaigns.back() : store::choose_campaign(campaigns, o.campaign, o.store);
  const store::Filter filter{.campaign = campaign.id, .counted_only = false};
  auto fleet = report::fleet_of(campaign, store.held(campaign.id), store.trials(filter), store.runs(filter));
  fleet.submissions = report::submissions_of(store, campaign.id);
  if (o.watch_seconds > 0 && colour_wanted()) print("\033[H\033[2J");
  answer(o.answer, report::fleet_document(fleet), [&] { return to_json(fleet); });
  return fleet.done < fleet.runs;
}

void watch_fleet(store::Store& store, const ShowOptions& o) {
  const auto stop = stop_signals();
  while (show_fleet(store, o) && o.watch_seconds > 0 && !asked_to_stop(stop.get(), o.watch_seconds)) {
  }
}

void show(const ShowOptions& o) {
  if (o.network.all || !o.network.name.empty()) return show_network(o.network, o.answer);
  const auto store = store::open_store(o.store, store::Access::read);
  if (!o.trial.empty()) return show_trial(*store, o);
  if (o.fleet) return watch_fleet(*store, o);
  if (o.fastest && o.roofline) fail(ErrorKind::usage, "--fastest and --roofline give two answers; choose one.");
  const auto campaigns = choose_campaigns(store->campaigns(), o);
  const auto data = [&] { return report::results_of_campaigns(*store, campaigns); };
  const auto document = [&] {
    if (o.fastest) return report::fastest_document(report::gather_evidence(*store, campaigns));
    if (!o.roofline) return report::results_document(data());
    return report::roofline_document(data().results, report::known_roofline(*store), terminal_width());
  };
  answer(o.answer, document, [&] { return report::json_report(data()); });
}

void add_show(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<ShowOptions>();
  add_store_option(command, o->store);
  command.add_option("--campaign,campaign", o->campaign,
                     "Show this campaign, by name or the first digits of its id [the newest]");
  command.add_option("--trial", o->trial, "Show every run of the trial whose id begins so");
  command.add_flag("--layers", o->layers,
                   "With --trial: show its slowest layers, where they were timed (run --layers)");
  command.add_flag("--roofline", o->roofline,
                   "Show FLOP/s and bytes/s achieved, and where they are below the roofline");
  command.add_flag("--fastest", o->fastest,
                   "Show which worker is fastest on each workload: ratios, intervals, and what is proved");
  command.add_flag("--all", o->all, "List every campaign");
  command.add_flag("--fleet", o->fleet, "Show the progress of a campaign: done, running where, failed why, time left");
  command
      .add_option("--watch", o->watch_seconds, "With --fleet: show it again every so many seconds until all is done")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 86400.0));
  add_answer_flags(command, o->answer);
  add_network_flags(command, o->network);
  command.callback([o, &invocation] {
    show(*o);
    invocation.exit_code = 0;
  });
}

}  // namespace

const Command commands::show{
    "show", "Show what a store holds: a campaign's results, or every run of one trial; or a network", add_show};

}  // namespace assay::cli
