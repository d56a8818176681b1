#include <memory>
#include <utility>

#include "assay/core/hash.hpp"
#include "assay/core/units.hpp"
#include "assay/measure/agent.hpp"
#include "assay/measure/run_directory.hpp"
#include "assay/plan/spec.hpp"
#include "assay/plan/trial_sweep.hpp"
#include "assay/report/report.hpp"
#include "cli/command.hpp"
#include "cli/paths.hpp"
#include "cli/peak.hpp"
#include "cli/progress.hpp"
#include "cli/results.hpp"
#include "cli/stop.hpp"

namespace assay::cli {
namespace {

struct RunOptions {
  std::string store = "assay.db";
  std::string what;                                       ///< networks, or a campaign file
  std::vector<std::pair<std::string, std::string>> axes;  ///< axis of the plan, and the sweep written for it
  std::vector<std::string> options;                       ///< NAME=SWEEP
  std::vector<std::string> env;                           ///< NAME=VALUE
  std::vector<std::string> command;                       ///< behind --
  std::string name;
  std::int64_t runs = 10;
  std::int64_t seed = 1;
  bool lockstep = false;
  bool again = false;
  std::string seconds;
  std::string warmup;
  std::string limit;
  std::string prepare_limit;
  std::string memory_limit;
  std::optional<std::int64_t> max_samples;
  std::optional<std::int64_t> pair_steps;
  std::optional<std::int64_t> retries;
  std::optional<bool> phases;
  bool layers = false;
  bool json = false;
  bool quiet = false;
  bool dry_run = false;
  double lease_seconds = 60;
  bool no_host_lock = false;
  bool no_peak = false;
  std::string host_lock;
  std::vector<std::string> hosts;
  std::string interface;
};

/// Flags that sweep one axis of the plan, with their help.
constexpr std::array<std::array<const char*, 3>, 21> kAxisFlags{{
    {"--worker", "worker", "Worker, or worker==release"},
    {"--mode", "mode", "infer, train or both: infer,train"},
    {"--batch", "batch", "Samples per step and process: 8, 1,2,4, 4-24+4 or 1-64*2"},
    {"--precision", "precision", "Precision: fp32, bf16, …"},
    {"--data", "data", "Where input comes from"},
    {"--device", "placement.device", "Kind of device"},
    {"--ranks", "placement.ranks", "Processes that work together"},
    {"--ranks-per-node", "placement.ranks_per_node", "How many of them on each host"},
    {"--instances", "settings.instances", "Processes side by side"},
    {"--inter-op", "settings.inter_op", "Operators run at once"},
    {"--intra-op", "settings.intra_op", "Threads of one operator"},
    {"--library-threads", "settings.library_threads", "Threads of the math library"},
    {"--affinity", "settings.affinity", "none, compact or spread"},
    {"--memory-bind", "settings.memory_bind", "none, local or interleave"},
    {"--allocator", "settings.allocator", "system, tcmalloc or jemalloc"},
    {"--spin", "settings.spin", "Idle threads spin: true or false"},
    {"--compile", "settings.compile", "The framework's compiler"},
    {"--layout", "settings.layout", "Order of tensor dimensions"},
    {"--loaders", "settings.loaders", "Processes that load input"},
    {"--prefetch", "settings.prefetch", "Batches loaded ahead"},
    {"--bucket-bytes", "settings.bucket_bytes", "Size of a gradient bucket"},
}};

bool is_campaign_file(const std::string& what) {
  return what.ends_with(".yaml") || what.ends_with(".yml");
}

/// Flags of the measurement override what a campaign file says.
void apply_measure(const RunOptions& o, Measure& m) {
  if (!o.seconds.empty()) m.seconds = parse_seconds(o.seconds, "--seconds");
  if (!o.warmup.empty()) m.warmup_seconds = parse_seconds(o.warmup, "--warmup");
  if (!o.limit.empty()) m.limit_seconds = parse_seconds(o.limit, "--limit");
  if (!o.prepare_limit.empty()) m.prepare_limit_seconds = parse_seconds(o.prepare_limit, "--prepare-limit");
  if (!o.memory_limit.empty()) m.memory_limit_bytes = parse_bytes(o.memory_limit, "--memory-limit");
  if (o.max_samples) m.max_samples = *o.max_samples;
  if (o.pair_steps) m.pair_steps = *o.pair_steps;
  if (o.retries) m.retries = *o.retries;
  if (o.phases) m.phases = o.phases;
  m.layers = m.layers || o.layers;
}

plan::Campaign campaign_from_flags(const RunOptions& o, const plan::Catalog& catalog) {
  plan::TrialSweep sweep;
  for (const auto& [axis, text] : o.axes) sweep.add(axis, {text, false, ""});
  if (!o.what.empty()) sweep.add("network", {o.what, false, ""});
  for (const auto& option : o.options) {
    const auto [name, text] = split_assignment(option, "--option");
    sweep.add("options." + name, {text, false, ""});
  }
  for (const auto& variable : o.env) {
    const auto [name, value] = split_assignment(variable, "--env");
    sweep.add("settings.env." + name, {value, true, ""});
  }
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
    if (!o.axes.empty() || !o.options.empty() || !o.env.empty() || !o.command.empty()) {
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
  apply_measure(o, campaign.measure);
  check(campaign, catalog);
  return campaign;
}

void print_plan(const plan::Campaign& campaign, bool as_json) {
  std::string out;
  json trials = json::array();
  for (const auto& trial : campaign.trials) {
    if (as_json) trials.push_back({{"trial_id", trial_id(trial)}, {"trial", to_json(trial)}, {"runs", campaign.runs}});
    out += fmt::format("{}  {}\n", trial_id(trial).substr(0, 8), title(trial));
  }
  if (as_json) return print(json{{"name", campaign.name}, {"trials", trials}}.dump(2) + "\n");
  const auto runs = static_cast<std::int64_t>(campaign.trials.size()) * campaign.runs;
  const double seconds = static_cast<double>(runs) * (campaign.measure.seconds + campaign.measure.warmup_seconds);
  print(out + fmt::format("{} trials x {} runs = {} runs, at most {:.0f} s of measuring and the time to start them\n",
                          campaign.trials.size(), campaign.runs, runs, seconds));
}

report::ReportData report_of(store::Store& store, const std::string& campaign) {
  auto campaigns = store.campaigns();
  std::erase_if(campaigns, [&](const auto& row) { return row.id != campaign; });
  return results_of_campaigns(store, std::move(campaigns));
}

/// One agent in this process, until nothing is left to do.
measure::AgentEnd work(const RunOptions& o, store::Store& store, const plan::Catalog& catalog,
                       const std::string& campaign, int stop_fd) {
  measure::AgentOptions options;
  options.campaign = campaign;
  options.lease_seconds = o.lease_seconds;
  options.host_lock = !o.no_host_lock;
  options.host_lock_path = o.host_lock;
  options.run_root = measure::default_run_root();
  options.store_mark = hash_hex(std::filesystem::canonical(o.store).string()).substr(0, 8);
  options.cache = cache_root();
  options.hosts.names = o.hosts;
  if (!o.interface.empty()) options.hosts.interface = o.interface;
  const auto rank_program = libexec_folder() / "assay-rank";
  const auto launcher = measure::launcher_by_ranks(measure::local_launcher(rank_program),
                                                   measure::mpi_launcher(rank_program, options.hosts));
  Progress progress(store, campaign, o.quiet);
  return measure::Agent(store, catalog, *launcher, progress, options).work(stop_fd);
}

/// Measures once per store and platform what the hardware can do, so that results have a share of it.
measure::AgentEnd work_on_peak(const RunOptions& o, store::Store& store, const plan::Catalog& catalog,
                               const plan::Campaign& campaign, int stop_fd) {
  if (o.no_peak) return measure::AgentEnd::nothing_left;
  const auto peak = missing_peak(store, campaign, catalog);
  if (!peak) return measure::AgentEnd::nothing_left;
  if (!o.quiet)
    std::fprintf(stderr, "assay: measuring the best gemm here, once for this store (--no-peak leaves it out)\n");
  return work(o, store, catalog, store.plan(*peak, false).campaign, stop_fd);
}

int run(const RunOptions& o, const CLI::App& command) {
  const auto catalog = catalog_at_hand();
  const auto campaign = make_campaign(o, catalog, command);
  if (o.dry_run) {
    print_plan(campaign, o.json);
    return 0;
  }
  const auto stop = stop_signals();
  const auto store = store::open_store(o.store, store::Access::create);
  const auto planned = store->plan(campaign, o.again);

  auto end = work(o, *store, catalog, planned.campaign, stop.get());
  if (end == measure::AgentEnd::nothing_left) end = work_on_peak(o, *store, catalog, campaign, stop.get());
  const auto data = report_of(*store, planned.campaign);
  print(o.json ? report::json_report(data).dump(2) + "\n" : report::terminal_report(data, terminal_width()));
  const auto& progress = data.campaigns.at(0).progress;
  if (end == measure::AgentEnd::stopped) {
    std::fprintf(stderr, "assay: stopped with %ld of %ld runs done; the same command goes on from here\n",
                 static_cast<long>(progress.done), static_cast<long>(progress.runs));
    return kExitStopped;
  }
  return progress.failed > 0 ? kExitFailedRuns : 0;
}

void add_plan_flags(CLI::App& command, RunOptions& o) {
  command.add_option("what", o.what, "Networks (comma list), or a campaign file (.yaml)");
  for (const auto& flag : kAxisFlags) {
    const std::string axis = flag[1];
    command
        .add_option_function<std::string>(
            flag[0], [&o, axis](const std::string& text) { o.axes.emplace_back(axis, text); }, flag[2])
        ->group("What and how");
  }
  command.add_option("--option", o.options, "Option of the network, NAME=SWEEP; may be repeated")
      ->allow_extra_args(false)
      ->group("What and how");
  command.add_option("--env", o.env, "Variable for the worker, NAME=VALUE; may be repeated")
      ->allow_extra_args(false)
      ->group("What and how");
  command.add_option("--runs", o.runs, "Fresh processes per trial; more than before extends the campaign")
      ->capture_default_str();
  command.add_option("--name", o.name, "Name of the campaign");
  command.add_option("--seed", o.seed, "Seed of the order and of everything random")->capture_default_str();
  command.add_flag("--lockstep", o.lockstep, "Measure exactly two trials in alternating slices");
  command.add_flag("--again", o.again, "Start the next round of a finished campaign");
}

void add_measure_flags(CLI::App& command, RunOptions& o) {
  const char* group = "Measurement";
  command.add_option("--seconds", o.seconds, "Time measured per run [2s]")->group(group);
  command.add_option("--warmup", o.warmup, "Time before that, kept but not summarised [500ms]")->group(group);
  command.add_option("--max-samples", o.max_samples, "Samples that are enough [10000]")->group(group);
  command.add_option("--pair-steps", o.pair_steps, "Steps in a slice of a lock-step pair [2]")->group(group);
  command
      .add_flag_function(
          "--phases,!--no-phases", [&o](std::int64_t times) { o.phases = times > 0; },
          "Also time the phases of a step, in passes of their own [where the worker can]")
      ->group(group);
  command.add_flag("--layers", o.layers, "Also time every layer, in passes of their own")->group(group);
  command.add_option("--limit", o.limit, "Silence after which a worker counts as hung [300s]")->group(group);
  command.add_option("--prepare-limit", o.prepare_limit, "The same while it prepares [600s]")->group(group);
  command.add_option("--memory-limit", o.memory_limit, "Resident memory of a worker and its children")->group(group);
  command.add_option("--retries", o.retries, "How often a disturbed run is measured again [2]")->group(group);
}

}  // namespace

void add_run(CLI::App& app, const std::vector<std::string>& behind, int& exit_code) {
  auto* command =
      app.add_subcommand("run", "Plan a campaign and measure it here; the same command goes on where it stopped");
  const auto o = std::make_shared<RunOptions>();
  o->command = behind;
  add_store_option(*command, o->store);
  add_plan_flags(*command, *o);
  add_measure_flags(*command, *o);
  command->add_flag("--json", o->json, "Print the results as JSON");
  command->add_flag("--quiet", o->quiet, "No progress on stderr");
  command->add_flag("--dry-run", o->dry_run, "Print the plan and measure nothing");
  command->add_option("--lease", o->lease_seconds, "Seconds after which a silent agent loses its run")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 86400.0));
  command->add_option("--hosts", o->hosts, "Hosts for runs of several ranks, by Open MPI; all share the run directory")
      ->delimiter(',');
  command->add_option("--interface", o->interface, "Network device on which ranks find each other");
  command->add_flag("--no-host-lock", o->no_host_lock,
                    "Do not wait for other runs on this host (they disturb each other)");
  command->add_flag("--no-peak", o->no_peak, "Do not measure the best gemm here, of which results are a share");
  command->add_option("--host-lock", o->host_lock, "Lock file in place of the host's common one");
  command->footer(
      "Any program: assay run --batch 1,2 -- ./program --size {batch}\n"
      "Placeholders: {batch} {mode} {precision} {seed} {rank} {instance} {threads} {option:NAME}");
  command->callback([o, command, &exit_code] { exit_code = run(*o, *command); });
}

}  // namespace assay::cli
