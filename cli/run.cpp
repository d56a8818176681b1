#include <memory>

#include "assay/plan/spec.hpp"
#include "assay/platform/machine.hpp"
#include "assay/report/report.hpp"
#include "assay/stats/looks.hpp"
#include "cli/command.hpp"
#include "cli/expected.hpp"
#include "cli/paths.hpp"
#include "cli/peak.hpp"
#include "cli/plan_flags.hpp"
#include "cli/progress.hpp"
#include "cli/results.hpp"
#include "cli/stop.hpp"
#include "cli/work.hpp"

namespace assay::cli {
namespace {

struct RunOptions {
  std::string what;  ///< networks, or a campaign file
  PlanFlags plan;
  MeasureFlags measure;
  WorkFlags work;
  std::vector<std::string> command;  ///< behind --
  std::string name;
  std::int64_t runs = 10;
  std::int64_t seed = 1;
  bool lockstep = false;
  bool again = false;
  bool json = false;
  bool dry_run = false;
  bool plan_only = false;
  bool no_peak = false;
};

bool is_campaign_file(const std::string& what) {
  return what.ends_with(".yaml") || what.ends_with(".yml");
}

plan::Campaign campaign_from_flags(const RunOptions& o, const plan::Catalog& catalog) {
  auto sweep = sweep_of(o.plan);
  if (!o.what.empty()) sweep.add("network", {o.what, false, ""});
  if (!o.command.empty()) sweep.command = o.command;
  if (o.what.empty() && o.command.empty()) {
    fail(ErrorKind::usage,
         "name a network, a campaign file, or a program behind --. For example: assay run toy --worker fake");
  }
  plan::Campaign campaign;
  campaign.name = !o.name.empty() ? o.name : !o.what.empty() ? o.what : "command";
  campaign.seed = o.seed;
  campaign.runs = o.runs;
  campaign.lockstep = o.lockstep;
  campaign.trials = plan::expand({sweep}, o.runs, catalog);
  return campaign;
}

plan::Campaign make_campaign(const RunOptions& o, const plan::Catalog& catalog, const CLI::App& command) {
  plan::Campaign campaign;
  if (is_campaign_file(o.what)) {
    if (!o.plan.empty() || !o.command.empty()) {
      fail(ErrorKind::usage, "{} says what is measured; flags that say so, too, would contradict it. Change the file.",
           shown(o.what));
    }
    campaign = plan::read_spec_file(o.what, catalog);
    if (command.count("--runs") > 0) campaign.runs = o.runs;
    if (command.count("--seed") > 0) campaign.seed = o.seed;
    if (!o.name.empty()) campaign.name = o.name;
  } else {
    campaign = campaign_from_flags(o, catalog);
  }
  apply(o.measure, campaign.measure);
  if (campaign.measure.stop) {
    if (command.count("--runs") > 0) {
      fail(ErrorKind::usage, "--runs is a number and --stop decides it. Leave out one; --most-runs bounds --stop.");
    }
    campaign.runs = stats::looks(campaign.measure.stop->most_runs).front();
  }
  check(campaign, catalog);
  return campaign;
}

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
  if (const auto expected = expected_duration(campaign, store)) {
    out += fmt::format("By {} earlier runs in {} of these workers: about {}\n", expected->runs,
                       store::shown_location(store), for_person(static_cast<std::int64_t>(expected->seconds) + 1));
  }
  print(out);
}

report::ReportData report_of(store::Store& store, const std::string& campaign) {
  auto campaigns = store.campaigns();
  std::erase_if(campaigns, [&](const auto& row) { return row.id != campaign; });
  return results_of_campaigns(store, std::move(campaigns));
}

/// Measures once per store and platform what the hardware can do, so that results have a share of it.
measure::AgentEnd work_on_peak(const RunOptions& o, store::Store& store, const plan::Catalog& catalog,
                               const plan::Campaign& campaign, int stop_fd) {
  if (o.no_peak) return measure::AgentEnd::nothing_left;
  const auto peak = missing_peak(store, campaign, catalog);
  if (!peak) return measure::AgentEnd::nothing_left;
  if (!o.work.quiet)
    std::fprintf(stderr,
                 "assay: measuring the best gemm and triad here, once for this store (--no-peak leaves it out)\n");
  std::string id;
  return work(o.work, store, catalog, *peak, false, stop_fd, id);
}

/// Leaves the runs to agents.
int plan_only(const RunOptions& o, const plan::Campaign& campaign) {
  if (campaign.measure.stop) {
    fail(ErrorKind::usage, "--plan-only: --stop plans by what was measured. Say how many runs with --runs instead.");
  }
  const auto planned = store::open_store(o.work.store, store::Access::create)->plan(campaign, o.again);
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
  const auto campaign = make_campaign(o, catalog, command);
  if (o.dry_run) {
    print_plan(campaign, o.work.store, o.json);
    return 0;
  }
  if (o.plan_only) return plan_only(o, campaign);
  check_platform(campaign);
  const auto stop = stop_signals();
  const auto store = open_to_work(o.work, store::Access::create);
  std::string id;
  auto end = work(o.work, *store, catalog, campaign, o.again, stop.get(), id);
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

void add_campaign_flags(CLI::App& command, RunOptions& o) {
  command.add_option("what", o.what, "Networks (comma list), or a campaign file (.yaml)");
  add_plan_flags(command, o.plan);
  command.add_option("--runs", o.runs, "Fresh processes per trial; more than before extends the campaign")
      ->capture_default_str();
  command.add_option("--name", o.name, "Name of the campaign");
  command.add_option("--seed", o.seed, "Seed of the order and of everything random")->capture_default_str();
  command.add_flag("--lockstep", o.lockstep, "Measure exactly two trials in alternating slices");
  command.add_flag("--again", o.again, "Start the next round of a finished campaign");
}

}  // namespace

void add_run(CLI::App& app, const std::vector<std::string>& behind, int& exit_code) {
  auto* command =
      app.add_subcommand("run", "Plan a campaign and measure it here; the same command goes on where it stopped");
  const auto o = std::make_shared<RunOptions>();
  o->command = behind;
  add_work_flags(*command, o->work);
  add_campaign_flags(*command, *o);
  add_measure_flags(*command, o->measure);
  command->add_flag("--json", o->json, "Print the results as JSON");
  command->add_flag("--dry-run", o->dry_run, "Print the plan and measure nothing");
  command->add_flag("--plan-only", o->plan_only, "Put the runs into the store and leave them to `assay agent`");
  command->add_flag("--no-peak", o->no_peak,
                    "Do not measure the best gemm and triad here, of which results are a share");
  command->footer(
      "Any program: assay run --batch 1,2 -- ./program --size {batch}\n"
      "Placeholders: {batch} {mode} {precision} {seed} {rank} {instance} {threads} {option:NAME}");
  command->callback([o, command, &exit_code] { exit_code = run(*o, *command); });
}

}  // namespace assay::cli
