#include <algorithm>
#include <memory>

#include "assay/core/clock.hpp"
#include "assay/core/text/hash.hpp"
#include "assay/core/text/units.hpp"
#include "assay/core/workloads/scenario.hpp"
#include "assay/measure/environment.hpp"
#include "assay/network/network.hpp"
#include "assay/network/onnx.hpp"
#include "assay/platform/cgroup.hpp"
#include "assay/platform/machine/machine.hpp"
#include "assay/report/subjects/tuning.hpp"
#include "cli/command.hpp"
#include "cli/commands/tune/tune_predict.hpp"
#include "cli/flags/answer.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/flags/tunings.hpp"
#include "cli/flags/work.hpp"
#include "cli/help.hpp"
#include "cli/output.hpp"
#include "cli/paths.hpp"
#include "cli/stop.hpp"

namespace assay::cli {
namespace {

struct TuneFlags {
  std::string network;
  std::string tuned;  ///< name of a tuning to print
  std::string goal = "latency";
  std::string budget = "60";
  std::string name;
  std::string machine;
  std::string emit;
  PlanFlags plan;
  MeasureFlags measure;
  WorkFlags work;
  std::int64_t seed = 1;
  std::int64_t pairs = 6;
  bool apart = false;
  bool no_split = false;
  bool dry_run = false;
  bool journal = false;
  PredictedSettingsFlags predicted;
  AnswerFlags answer;
};

/// "60" is runs, "20m" is time.
tune::Budget parse_budget(const std::string& text) {
  tune::Budget budget;
  if (!text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos) {
    budget.runs = std::stoll(text);
    if (*budget.runs >= 4) return budget;
    fail(ErrorKind::usage, "--budget: {} runs are too few to compare anything. Give 4 or more, or a time such as 20m.",
         *budget.runs);
  }
  budget.seconds = parse_seconds(text, "--budget");
  return budget;
}

std::optional<network::Width> width_of(const Workload& workload) {
  if (network::is_network(workload.network)) return cost_of(network::build(workload.network, workload.options)).width;
  if (workload.network.ends_with(".onnx")) return network::read_onnx(workload.network).width;
  return {};
}

/// `platform` is left empty where the machine is only described.
tune::GuideInput situation_of(const TuneFlags& o, const Workload& workload, std::string& platform) {
  tune::GuideInput situation;
  if (o.machine.empty()) {
    const auto machine = platform::this_machine();
    platform = machine.id;
    situation.resources = tune::resources_of(machine.topology, machine.identity.cpu_quota);
    for (const auto allocator : {Allocator::tcmalloc, Allocator::jemalloc}) {
      if (measure::find_allocator(allocator)) situation.allocators.push_back(allocator);
    }
  } else {
    situation.resources = tune::resources_of(platform::topology_from_synthetic(o.machine), {});
    situation.allocators = {Allocator::tcmalloc, Allocator::jemalloc};
  }
  situation.width = width_of(workload);
  return situation;
}

/// Everything that is known before the first measurement.
struct Prepared {
  report::TunePlan plan;
  tune::Goal goal;
  tune::GuideInput situation;
  std::string platform;  ///< id of this machine
  const plan::WorkerInfo* worker = nullptr;
};

/// Answers of different lengths are different work: the shortest would always win.
void check_generation(const tune::Goal& goal, const std::vector<Trial>& trials) {
  const auto& first = trials.front().workload;
  if (goal.of_generation() && !first.generate) {
    fail(ErrorKind::usage,
         "--goal: {} is for text that is generated, and {} does not generate. Write latency or throughput, or give "
         "--prompt-tokens.",
         title(goal), shown(title(first)));
  }
  for (const auto& trial : trials) {
    if (!first.generate || !trial.workload.generate) continue;
    if (trial.workload.generate->prompt_tokens != first.generate->prompt_tokens ||
        trial.workload.generate->output_tokens != first.generate->output_tokens) {
      fail(ErrorKind::usage, "{} and {} are two workloads: tune prompts and answers of one length at a time.",
           shown(title(first)), shown(title(trial.workload)));
    }
  }
}

/// A search for a rate is that of the scenario server, with the limit of the goal.
void add_queries(const tune::Goal& goal, const PlanFlags& flags, plan::TrialSweep& sweep) {
  if (goal.metric != tune::GoalMetric::rate) return;
  for (const auto& [axis, text] : flags.axes) {
    if (axis != "scenario" && axis != "rate" && axis != "slo") continue;
    fail(ErrorKind::usage, "--{} {}: the goal {} says all of that. Leave it out.", axis, shown(text), title(goal));
  }
  sweep.add("scenario", {assay::name_of(ScenarioKind::server), false, ""});
  sweep.add("slo", {title(*goal.limit), false, ""});
}

Prepared prepare(const TuneFlags& o, const plan::Catalog& catalog) {
  const auto goal = tune::parse_goal(o.goal);
  auto sweep = sweep_of(o.plan);
  add_queries(goal, o.plan, sweep);
  sweep.add("network", {o.network, false, ""});
  tune::SpaceRequest request;
  request.named = plan::expand({sweep}, 1, catalog);
  const auto& first = request.named.front();
  for (const auto& trial : request.named) {
    if (trial.worker.name != first.worker.name || trial.worker.release != first.worker.release ||
        trial.workload.network != first.workload.network || trial.workload.mode != first.workload.mode) {
      fail(ErrorKind::usage, "{} and {} are two workloads: tune one network on one worker in one mode at a time.",
           shown(title(first)), shown(title(trial)));
    }
    if (trial.placement.ranks > 1) {
      fail(ErrorKind::usage, "--ranks {}: only what runs on one machine without ranks can be tuned.",
           trial.placement.ranks);
    }
  }
  Prepared prepared;
  prepared.goal = goal;
  check_generation(prepared.goal, request.named);
  prepared.situation = situation_of(o, first.workload, prepared.platform);
  prepared.worker = catalog.find(first.worker);
  request.metric = goal.metric;
  request.limit = goal.limit;
  const std::string settings = "settings.";
  for (const auto& [axis, text] : o.plan.axes) {
    if (axis.starts_with(settings)) request.fixed.insert(axis.substr(settings.size()));
    if (axis == "batch" || axis == "batch_wait") request.fixed.insert(axis);
    if (axis == kThreadsAxis) request.fixed.insert({"inter_op", "intra_op"});
  }
  auto& plan = prepared.plan;
  plan.workload = first.workload;
  plan.worker = first.worker;
  plan.goal = title(prepared.goal);
  plan.resources = prepared.situation.resources;
  plan.rule = explain_rule(*prepared.worker, prepared.situation);
  plan.space = space_of(request, *prepared.worker, prepared.situation);
  plan.candidates = candidates_of(plan.space, first, *prepared.worker, prepared.situation, prepared.goal.metric);
  return prepared;
}

std::string name_of(const TuneFlags& o, const report::TunePlan& plan) {
  if (!o.name.empty()) return o.name;
  const auto file = std::filesystem::path(plan.workload.network).filename().string();
  return fmt::format("{}-{}-{}", file, plan.worker.name, plan.goal);
}

tune::Work worker_of(const TuneFlags& o, store::Store& store, const plan::Catalog& catalog, int stop_fd) {
  return [&o, &store, &catalog, stop_fd](const plan::Campaign& campaign) {
    check(campaign, catalog);
    if (!o.work.quiet) {
      const auto& trials = campaign.trials;
      const auto what = trials.size() == 1 ? conditions(trials[0])
                        : campaign.lockstep
                            ? fmt::format("{}; against {}", conditions(trials[1]), conditions(trials[0]))
                            : fmt::format("{} candidates", trials.size());
      std::fprintf(stderr, "assay: %s: %s\n", campaign.name.c_str(), what.c_str());
    }
    std::string id;
    if (work(o.work, store, catalog, campaign, false, stop_fd, id) == measure::AgentEnd::stopped) throw tune::Stopped{};
    return id;
  };
}

tune::Tuning tuning_of(const std::string& name, const Prepared& prepared, const tune::Answer& answer) {
  tune::Tuning tuning;
  tuning.name = name;
  tuning.created_utc = utc_now();
  tuning.workload = answer.best.workload;
  tuning.worker = answer.best.worker;
  tuning.goal = prepared.plan.goal;
  tuning.settings = answer.best.settings;
  tuning.resources = prepared.situation.resources;
  tuning.platform = prepared.platform;
  tuning.launch = prepared.worker->launch;
  tuning.results = answer.results;
  tuning.results->left_out = prepared.plan.space.left_out;
  tuning.results->rule = prepared.plan.rule;
  return tuning;
}

/// By the limit of the goal: kept, broken or not decided.
int exit_code_of(const tune::Tuning& tuning) {
  if (!tuning.results) return 0;
  const auto& limit = tuning.results->limit;
  if (!limit) return tuning.results->within_limit ? 0 : kExitGate;
  return limit->verdict == stats::Kept::proved ? 0 : limit->verdict == stats::Kept::broken ? kExitGate : kExitUndecided;
}

int show(const TuneFlags& o, const tune::Tuning& tuning) {
  const auto document = o.journal ? report::journal_document(tuning) : report::tuning_document(tuning);
  if (o.emit.empty()) {
    answer(o.answer, document, [&] { return to_json(tuning); });
  } else {
    write_markdown(o.answer.markdown, document);
    print_emitted(o.emit, tuning);
  }
  return exit_code_of(tuning);
}

int dry_run(const TuneFlags& o, const report::TunePlan& plan) {
  answer(o.answer, report::tune_plan_document(plan), [&] { return report::json_tune_plan(plan); });
  return 0;
}

int predict_here(const TuneFlags& o, const Prepared& prepared, const plan::Catalog& catalog) {
  if (prepared.goal.metric != tune::GoalMetric::latency || prepared.goal.limit) {
    fail(ErrorKind::usage, "--goal {}: --predict says how long a step takes. Leave --goal out.", o.goal);
  }
  return predict_settings_here({o.predicted, o.plan, o.measure, o.work, o.answer, prepared.plan, catalog,
                                *prepared.worker, o.seed, prepared.platform});
}

int tune_here(const TuneFlags& o) {
  tune::TuneOptions options{parse_budget(o.budget), o.pairs, !o.no_split};
  if (o.pairs < 0 || o.pairs > 1000) fail(ErrorKind::usage, "--pairs: {} is outside 0 to 1000.", o.pairs);
  const auto catalog = catalog_at_hand();
  const auto prepared = prepare(o, catalog);
  if (o.dry_run) return dry_run(o, prepared.plan);
  if (o.predicted.wanted) return predict_here(o, prepared, catalog);
  if (!o.machine.empty())
    fail(ErrorKind::usage,
         "--machine describes another machine, so nothing can be measured on it. Add --dry-run or --predict.");
  const auto name = name_of(o, prepared.plan);
  const auto stop = stop_signals();
  const auto store = store::open_store(o.work.store, store::Access::create);
  tune::MeasuredSetup setup{name, o.seed, {}, prepared.goal, prepared.plan.candidates.trials};
  const bool in_turns = o.apart || prepared.goal.metric == tune::GoalMetric::rate;  // a search for a rate has no steps
  setup.lockstep = !in_turns && !prepared.situation.resources.quota;
  setup.measure.phases = false;  // a search needs steps alone
  apply(o.measure, setup.measure);
  if (setup.measure.stop)
    fail(ErrorKind::usage, "--stop: in a search the budget says how often is measured. Leave it out.");
  try {
    tune::MeasuredObjective objective(setup, *store, worker_of(o, *store, catalog, stop.get()));
    const auto answer = tune::tune(prepared.plan.candidates, prepared.situation.resources, options, objective);
    const auto tuning = tuning_of(name, prepared, answer);
    const json inputs = {{"name", name}, {"platform", tuning.platform}, {"goal", tuning.goal}, {"seed", o.seed}};
    store->put_artifact("tuning", hash_hex(canonical_json(inputs)), to_json(tuning));
    return show(o, tuning);
  } catch (const tune::Stopped&) {
    std::fprintf(stderr, "assay: stopped; the same command goes on from here\n");
    return kExitStopped;
  }
}

int tune(const TuneFlags& o) {
  if (o.network.empty() == o.tuned.empty()) {
    fail(
        ErrorKind::usage,
        "name a network to tune, or with --tuned a tuning to print. For example: assay tune resnet50 --worker pytorch");
  }
  check_predicted_settings_flags(o.predicted);
  if (o.predicted.wanted && (!o.tuned.empty() || !o.emit.empty() || o.journal || o.dry_run)) {
    fail(ErrorKind::usage, "--predict prints what it predicts: leave --tuned, --emit, --journal and --dry-run out.");
  }
  return o.tuned.empty() ? tune_here(o) : show(o, find_tuning(o.tuned, o.work.store));
}

void add_tune(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<TuneFlags>();
  command.add_option("network", o->network, "Measure this network, or your own file");
  command
      .add_option("--goal", o->goal,
                  "Look for the best latency, throughput or tokens a second, or one of them with a limit: "
                  "throughput@p99<50ms, tokens@ttft<500ms; or the highest rate of queries within one: rate@p99<50ms")
      ->capture_default_str();
  command.add_option("--budget", o->budget, "Choose after this many runs, or a time such as 20m")
      ->capture_default_str();
  command
      .add_option("--pairs", o->pairs,
                  "Measure this many lock-step pairs with each guide afterwards; 0 leaves the gains out")
      ->capture_default_str();
  command.add_flag("--no-split", o->no_split, "Do not split the gain by kinds of settings, which takes pairs as well");
  command.add_flag("--apart", o->apart,
                   "Measure whole runs in turns in place of lock-step pairs, as always under a quota");
  command.add_option("--name", o->name, "Name the tuning [NETWORK-WORKER-GOAL]");
  command.add_option("--seed", o->seed, "Draw everything random from this seed; another one measures again")
      ->capture_default_str();
  command.add_option("--tuned", o->tuned, "Print this tuning instead, without measuring")->type_name("NAME|FILE.json");
  add_emit_option(command, o->emit);
  command.add_flag("--journal", o->journal, "Print what the search did and why");
  add_answer_flags(command, o->answer);
  command.add_flag("--dry-run", o->dry_run, "Print the guides, the rule and the candidates; measure nothing");
  command.add_option("--machine", o->machine,
                     "With --dry-run or --predict: plan for another machine, such as 'pack:2 [numa] core:24 pu:2'");
  add_predicted_settings_flags(command, o->predicted);
  add_plan_flags(command, o->plan);
  add_measure_flags(command, o->measure);
  add_work_flags(command, o->work);
  command.footer(
      "A setting that is given has just these values, one or several: --intra-op 1,2 --allocator null,tcmalloc\n"
      "assay tune resnet50 --worker pytorch --goal throughput --budget 20m");
  command.callback([o, &invocation] { invocation.exit_code = tune(*o); });
}

}  // namespace

const Command commands::tune{"tune", "Find the settings that make a workload fastest here", add_tune};

}  // namespace assay::cli
