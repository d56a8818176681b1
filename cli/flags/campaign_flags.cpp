#include "cli/flags/campaign_flags.hpp"

#include "assay/plan/spec.hpp"
#include "assay/stats/looks.hpp"

namespace assay::cli {
namespace {

bool is_campaign_file(const std::string& what) {
  return what.ends_with(".yaml") || what.ends_with(".yml");
}

plan::Campaign campaign_from_flags(const CampaignFlags& o, const plan::Catalog& catalog) {
  auto sweep = sweep_of(o.plan);
  if (!o.what.empty()) sweep.add("network", {o.what, false, ""});
  if (!o.command.empty()) sweep.command = o.command;
  if (o.what.empty() && o.command.empty()) {
    fail(ErrorKind::usage,
         "name a network, a campaign file, or a program after --. For example: assay run toy --worker fake");
  }
  plan::Campaign campaign;
  campaign.name = !o.name.empty() ? o.name : !o.what.empty() ? o.what : "command";
  campaign.seed = o.seed;
  campaign.runs = o.runs;
  campaign.lockstep = o.lockstep;
  campaign.trials = plan::expand({sweep}, o.runs, catalog);
  return campaign;
}

}  // namespace

void add_campaign_flags(CLI::App& command, CampaignFlags& o) {
  command.add_option("what", o.what, "Measure these networks (comma list), or a campaign file (.yaml)");
  add_plan_flags(command, o.plan);
  command
      .add_option("--runs", o.runs,
                  "Measure each trial in this many fresh processes; more than before extends the campaign")
      ->capture_default_str();
  command.add_option("--name", o.name, "Name the campaign");
  command.add_option("--seed", o.seed, "Draw the order and everything random from this seed")->capture_default_str();
  command.add_flag("--lockstep", o.lockstep,
                   "Keep all trials alive at once and measure them in turns, slice by slice; needs two or more");
  command.add_flag("--again", o.again, "Start the next round of a finished campaign");
  add_measure_flags(command, o.measure);
}

plan::Campaign make_campaign(const CampaignFlags& o, const plan::Catalog& catalog, const CLI::App& command) {
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

store::Planned plan_for_agents(const plan::Campaign& campaign, bool again, const std::string& store) {
  if (campaign.measure.stop) {
    fail(ErrorKind::usage, "--stop plans by what was measured, and agents measure later. Say how many --runs instead.");
  }
  return store::open_store(store, store::Access::create)->plan(campaign, again);
}

}  // namespace assay::cli
