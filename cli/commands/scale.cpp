#include <memory>

#include "assay/compare/scaling.hpp"
#include "assay/core/text/units.hpp"
#include "assay/platform/machine/machine.hpp"
#include "assay/report/subjects/scaling.hpp"
#include "assay/tune/resources.hpp"
#include "cli/command.hpp"
#include "cli/flags/answer.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/flags/work.hpp"
#include "cli/help.hpp"
#include "cli/paths.hpp"
#include "cli/stop.hpp"

namespace assay::cli {
namespace {

struct ScaleFlags {
  std::string network;
  std::vector<std::int64_t> cpus;
  std::int64_t runs = 6;
  std::int64_t seed = 1;
  std::string name;
  AnswerFlags answer;
  bool dry_run = false;
  PlanFlags plan;
  MeasureFlags measure;
  WorkFlags work;
};

/// The one workload whose growth is asked for.
Trial base_of(const ScaleFlags& o, const plan::Catalog& catalog) {
  auto sweep = sweep_of(o.plan);
  sweep.add("network", {o.network, false, ""});
  const auto trials = plan::expand({sweep}, 1, catalog);
  if (trials.size() != 1) {
    fail(ErrorKind::usage, "{} trials: name one network, worker, batch and set of settings; what grows is CPUs alone.",
         trials.size());
  }
  const auto& base = trials.front();
  if (base.settings.instances) fail(ErrorKind::usage, "--instances is what grows here. Leave it out.");
  if (base.placement.ranks > 1) fail(ErrorKind::usage, "--ranks: scaling inside a machine is without ranks.");
  const auto& follows = catalog.find(base.worker)->settings;
  if (std::find(follows.begin(), follows.end(), "intra_op") == follows.end()) {
    fail(ErrorKind::usage, "worker {} does not follow intra_op, so the number of its threads cannot be set.",
         base.worker.name);
  }
  return base;
}

std::vector<std::int64_t> counts_of(const ScaleFlags& o) {
  const auto machine = platform::this_machine();
  const auto most = tune::resources_of(machine.topology, machine.identity.cpu_quota).usable_threads();
  if (o.cpus.empty()) return compare::doubling_up_to(most);
  auto counts = o.cpus;
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  if (counts.front() < 1 || counts.back() > most) {
    fail(ErrorKind::usage, "--cpus: {} is outside 1 to {}, the CPUs that may be used here.",
         counts.front() < 1 ? counts.front() : counts.back(), most);
  }
  return counts;
}

plan::Campaign campaign_of(const ScaleFlags& o, const compare::ScalingPlan& plan) {
  plan::Campaign campaign;
  campaign.name = o.name.empty() ? o.network + " scaling" : o.name;
  campaign.seed = o.seed;
  campaign.runs = o.runs;
  campaign.trials = plan.trials;
  campaign.measure.phases = false;  // rates alone are asked for
  apply(o.measure, campaign.measure);
  if (campaign.measure.stop) fail(ErrorKind::usage, "--stop: give a number of runs with --runs.");
  return campaign;
}

void say(const ScaleFlags& o, const compare::ScalingStudy& study) {
  answer(o.answer, report::scaling_document(study), [&] { return to_json(study); });
}

int scale(const ScaleFlags& o) {
  const auto catalog = catalog_at_hand();
  auto plan = compare::plan_scaling(base_of(o, catalog), counts_of(o));
  const auto campaign = campaign_of(o, plan);
  check(campaign, catalog);
  if (o.dry_run) {
    say(o, plan.study);
    return 0;
  }
  const auto stop = stop_signals();
  const auto store = store::open_store(o.work.store, store::Access::create);
  std::string id;
  const auto end = work(o.work, *store, catalog, campaign, false, stop.get(), id);
  const auto rows = store->runs({.campaign = id});
  compare::measure_curves(plan.study, rows);
  say(o, plan.study);
  if (end == measure::AgentEnd::stopped) {
    std::fprintf(stderr, "assay: stopped; the same command goes on from here\n");
    return kExitStopped;
  }
  const auto failed =
      std::count_if(rows.begin(), rows.end(), [](const auto& r) { return r.outcome != OutcomeKind::ok; });
  if (failed > 0) {
    std::fprintf(stderr, "assay: %ld runs failed; `assay show %s` says why\n", static_cast<long>(failed),
                 id.substr(0, 8).c_str());
  }
  return failed > 0 ? kExitFailedRuns : 0;
}

void add_scale(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<ScaleFlags>();
  command.add_option("network", o->network, "Measure this network, or your own file")->required();
  command.add_option("--cpus", o->cpus, "Use these numbers of CPUs [1, 2, 4, … and all]")->delimiter(',');
  command.add_option("--runs", o->runs, "Measure each point in this many fresh processes; more than before extends it")
      ->capture_default_str()
      ->check(CLI::Range(2, 1000));
  command.add_option("--name", o->name, "Name the campaign [NETWORK scaling]");
  command.add_option("--seed", o->seed, "Draw the order and everything random from this seed")->capture_default_str();
  add_answer_flags(command, o->answer);
  command.add_flag("--dry-run", o->dry_run, "Print the points and measure nothing");
  add_plan_flags(command, o->plan);
  add_measure_flags(command, o->measure);
  add_work_flags(command, o->work);
  command.footer(
      "--batch is that of one CPU; of generated text, --sequences is.\n"
      "--intra-op is the threads of each instance where instances grow [1].\n"
      "assay scale resnet50 --worker pytorch --batch 8");
  command.callback([o, &invocation] { invocation.exit_code = scale(*o); });
}

}  // namespace

const Command commands::scale{
    "scale", "Measure how a workload grows with the CPUs of this machine: strong and weak, by threads and by instances",
    add_scale};

}  // namespace assay::cli
