#include <memory>

#include "assay/platform/machine/machine.hpp"
#include "assay/report/report.hpp"
#include "assay/report/results/missing_peak.hpp"
#include "assay/report/results/results.hpp"
#include "assay/store/expected_duration.hpp"
#include "cli/command.hpp"
#include "cli/flags/campaign_flags.hpp"
#include "cli/flags/work.hpp"
#include "cli/help.hpp"
#include "cli/paths.hpp"
#include "cli/progress.hpp"
#include "cli/stop.hpp"

namespace assay::cli {
namespace {

struct RunOptions {
  CampaignFlags campaign;
  WorkFlags work;
  bool json = false;
  bool dry_run = false;
  bool plan_only = false;
  bool no_peak = false;
};

void print_plan(const plan::Campaign& campaign, const std::string& store, bool as_json) {
  std::string out;
  json trials = json::array();
  for (const auto& trial : campaign.trials) {
    if (as_json) trials.push_back({{"trial_id", trial_id(trial)}, {"trial", to_json(trial)}, {"runs", campaign.runs}});
    out += fmt::format("{}  {}\n", trial_id(trial).substr(0, 8), title(trial));
  }
  if (as_json) return print(json{{"name", campaign.name}, {"trials", trials}}.dump(2) + "\n");
  const auto runs = static_cast<std::int64_t>(campaign.trials.size()) * campaign.runs;
  const double seconds = static_cast<double>(runs) * (campaign.measure.seconds + campaign.measure.warmup_seconds);
  out += fmt::format("{} trials x {} runs = {} runs, at most {:.0f} s of measuring and the time to start them\n",
                     campaign.trials.size(), campaign.runs, runs, seconds);
  if (const auto expected = store::expected_duration(campaign, store)) {
    out += fmt::format("By {} earlier runs in {} of these workers: about {}\n", expected->runs,
                       store::shown_location(store), for_person(static_cast<std::int64_t>(expected->seconds) + 1));
  }
  print(out);
}

report::ReportData report_of(store::Store& store, const std::string& campaign) {
  auto campaigns = store.campaigns();
  std::erase_if(campaigns, [&](const auto& row) { return row.id != campaign; });
  return report::results_of_campaigns(store, std::move(campaigns));
}

/// Measures once per store and platform what the hardware can do, so that results have a share of it.
measure::AgentEnd work_on_peak(const RunOptions& o, store::Store& store, const plan::Catalog& catalog,
                               const plan::Campaign& campaign, int stop_fd) {
  if (o.no_peak) return measure::AgentEnd::nothing_left;
  const auto peak = report::missing_peak(store, campaign, catalog);
  if (!peak) return measure::AgentEnd::nothing_left;
  if (!o.work.quiet)
    std::fprintf(stderr,
                 "assay: measuring the best gemm and triad here, once for this store (--no-peak leaves it out)\n");
  std::string id;
  return work(o.work, store, catalog, *peak, false, stop_fd, id);
}

/// Leaves the runs to agents.
int plan_only(const RunOptions& o, const plan::Campaign& campaign) {
  const auto planned = plan_for_agents(campaign, o.campaign.again, o.work.store);
  print(o.json ? to_json(planned).dump(2) + "\n"
               : fmt::format("campaign {}: {} runs, {} of them new. `assay agent` carries them out.\n",
                             planned.campaign.substr(0, 8), planned.runs, planned.new_runs));
  return 0;
}

/// A campaign that asks for a platform is measured there or not at all.
void check_platform(const plan::Campaign& campaign) {
  const auto& asked = campaign.measure.platform;
  if (!asked) return;
  const auto here = platform::this_machine().id;
  if (here.starts_with(*asked)) return;
  fail(ErrorKind::usage,
       "this is platform {}, and the campaign asks for {}. Plan it with --plan-only, and start `assay "
       "agent` there.",
       here.substr(0, 8), *asked);
}

int run(const RunOptions& o, const CLI::App& command) {
  const auto catalog = catalog_at_hand();
  const auto campaign = make_campaign(o.campaign, catalog, command);
  if (o.dry_run) {
    print_plan(campaign, o.work.store, o.json);
    return 0;
  }
  if (o.plan_only) return plan_only(o, campaign);
  check_platform(campaign);
  const auto stop = stop_signals();
  const auto store = store::open_store(o.work.store, store::Access::create);
  std::string id;
  auto end = work(o.work, *store, catalog, campaign, o.campaign.again, stop.get(), id);
  if (end == measure::AgentEnd::nothing_left) end = work_on_peak(o, *store, catalog, campaign, stop.get());
  const auto data = report_of(*store, id);
  print(o.json ? report::json_report(data).dump(2) + "\n" : report::terminal_report(data, terminal_look()));
  const auto& progress = data.campaigns.at(0).progress;
  if (end == measure::AgentEnd::stopped) {
    std::fprintf(stderr, "assay: stopped with %ld of %ld runs done; the same command goes on from here\n",
                 static_cast<long>(progress.done), static_cast<long>(progress.runs));
    return kExitStopped;
  }
  return progress.failed > 0 ? kExitFailedRuns : 0;
}

void add_run(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<RunOptions>();
  o->campaign.command = invocation.program;
  add_work_flags(command, o->work);
  add_campaign_flags(command, o->campaign);
  add_json_flag(command, o->json, "Print the results as JSON");
  command.add_flag("--dry-run", o->dry_run, "Print the plan and measure nothing");
  command.add_flag("--plan-only", o->plan_only, "Put the runs into the store and leave them to `assay agent`");
  command.add_flag("--no-peak", o->no_peak,
                   "Do not measure the best gemm and triad here, of which results are a share");
  command.footer(
      "Any program: assay run --batch 1,2 -- ./program --size {batch}\n"
      "Placeholders: {batch} {mode} {precision} {seed} {rank} {instance} {threads} {option:NAME}");
  command.callback([o, &command, &invocation] { invocation.exit_code = run(*o, command); });
}

}  // namespace

const Command commands::run{"run", "Plan a campaign and measure it here; the same command goes on where it stopped",
                            add_run};

}  // namespace assay::cli
