#include "cli/flags/work.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "assay/compare/stopping.hpp"
#include "assay/core/text/hash.hpp"
#include "assay/core/text/number.hpp"
#include "assay/measure/run_directory.hpp"
#include "assay/store/spool.hpp"
#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/paths.hpp"
#include "cli/progress.hpp"

namespace assay::cli {
namespace {

/// What runs of a lock-step campaign's trials took before, in any campaign.
measure::KnownMemory known_memory(store::Store& store, const std::string& campaign) {
  measure::KnownMemory known;
  for (const auto& trial : store.trials({.campaign = campaign})) {
    for (const auto& row : store.runs({.trial = trial.id})) {
      const auto peak = row.digest.peak_memory_bytes.value_or(0);
      if (peak > 0) known[trial.id] = std::max(known[trial.id], peak);
    }
  }
  return known;
}

void say_going_on(const store::Progress& progress, const std::string& campaign) {
  if (progress.done == 0 || progress.done >= progress.runs) return;
  std::fprintf(stderr, "going on with campaign %s: %ld of %ld runs are done\n", campaign.substr(0, 8).c_str(),
               static_cast<long>(progress.done), static_cast<long>(progress.runs));
}

measure::AgentEnd work_on(const WorkFlags& flags, store::Store& store, const plan::Catalog& catalog,
                          const std::string& campaign, bool lockstep, int stop_fd, const ProgressLine::Heard& heard) {
  store::SpooledQueue queue(store, spool_of(flags));
  auto options = agent_options(flags, queue);
  options.campaign = campaign;
  // A file that cannot be written is for its user to mend; nobody waits for it.
  if (store::locate(flags.store).is_file) options.patience_seconds = 0;
  if (lockstep) options.known_memory = known_memory(store, campaign);
  const auto launcher = launcher_of(options);
  if (!flags.quiet && flags.says_goes_on) say_going_on(store.progress(campaign), campaign);
  ProgressLine progress(store, campaign, flags.quiet, heard);
  return work_with(queue, [&] { return measure::Agent(queue, catalog, *launcher, progress, options).work(stop_fd); });
}

/// Nodes of the Slurm allocation that this process is in; 0 where it is in none.
std::int64_t allocated_nodes() {
  const char* text = std::getenv("SLURM_JOB_NUM_NODES");
  return parse_number<std::int64_t>(text == nullptr ? "" : text).value_or(0);
}

/// Runs of each trial that the next look needs; empty where all is known.
std::vector<std::int64_t> next_look(store::Store& store, const std::string& id, bool quiet) {
  auto campaigns = store.campaigns();
  const auto row = std::find_if(campaigns.begin(), campaigns.end(), [&](const auto& one) { return one.id == id; });
  ASSAY_CHECK(row != campaigns.end());
  std::vector<std::int64_t> wanted;
  std::int64_t open = 0;
  std::int64_t missed = 0;
  double widest = 0;
  for (const auto& trial : compare::look(*row, store.trials({.campaign = id}), store.runs({.campaign = id}))) {
    wanted.push_back(trial.wanted);
    const bool narrow = trial.half_width && *trial.half_width <= row->measure.stop->half_width;
    if (!narrow) widest = std::max(widest, trial.half_width.value_or(1));
    if (trial.wanted > trial.runs) ++open;
    if (trial.wanted <= trial.runs && !narrow) ++missed;
  }
  if (open == 0 && missed > 0) {
    std::fprintf(stderr,
                 "assay: %ld of %zu trials missed the goal of --stop %.2g%%: half the widest interval is %.1f %%. "
                 "--most-runs and --most-time ask for more.\n",
                 static_cast<long>(missed), wanted.size(), 100 * row->measure.stop->half_width, 100 * widest);
  }
  if (open == 0) return {};
  if (!quiet) {
    std::fprintf(stderr, "assay: %ld of %zu trials are not narrow enough yet (up to %.1f %%); measuring on\n",
                 static_cast<long>(open), wanted.size(), 100 * widest);
  }
  return wanted;
}

}  // namespace

std::filesystem::path spool_of(const WorkFlags& flags) {
  if (!flags.spool.empty()) return flags.spool;
  // Not below TMPDIR, which a scheduler may empty with the job.
  const auto mark = hash_hex(store::locate(flags.store).identity).substr(0, 8);
  return measure::own_folder("/var/tmp") / fmt::format("spool-{}", mark);
}

measure::AgentEnd work_with(store::SpooledQueue& queue, const std::function<measure::AgentEnd()>& agent) {
  // Beside the user's own files, where the spool cannot be written: what is in memory alone ends with this process.
  std::vector<std::filesystem::path> last_places{std::filesystem::absolute("assay-spool")};
  if (const char* home = std::getenv("HOME")) last_places.push_back(std::filesystem::path(home) / "assay-spool");
  try {
    const auto end = agent();
    queue.rescue(last_places);
    return end;
  } catch (const Error& error) {
    std::string what = error.what();
    if (const auto note = queue.note(); what.ends_with(note)) what.resize(what.size() - note.size());
    queue.rescue(last_places);
    throw Error(error.kind(), what + queue.note());
  }
}

measure::AgentOptions agent_options(const WorkFlags& flags, store::RunQueue& queue) {
  measure::AgentOptions options;
  options.lease_seconds = flags.lease_seconds;
  options.measure_again = flags.measure_again;
  options.host_lock = !flags.no_host_lock;
  options.host_lock_path = flags.host_lock;
  options.run_root = flags.run_folder.empty() ? measure::default_run_root() : measure::own_folder(flags.run_folder);
  options.store_mark = queue.uuid().substr(0, 8);
  options.cache = cache_root();
  options.data = data_root();
  options.hosts.names = flags.hosts;
  const bool by_srun = flags.launcher == "srun" || (flags.launcher.empty() && flags.hosts.empty());
  if (by_srun) options.hosts.allocated = allocated_nodes();
  if (flags.launcher == "srun" && options.hosts.allocated == 0) {
    fail(ErrorKind::usage,
         "--launcher srun: this process is in no allocation of Slurm. Start it with sbatch or salloc.");
  }
  if (!flags.interface.empty()) options.hosts.interface = flags.interface;
  return options;
}

std::unique_ptr<measure::Launcher> launcher_of(const measure::AgentOptions& options) {
  const auto rank_program = libexec_folder() / "assay-rank";
  auto several = options.hosts.allocated > 0 ? measure::slurm_launcher(rank_program, options.hosts)
                                             : measure::mpi_launcher(rank_program, options.hosts);
  return measure::launcher_by_ranks(measure::local_launcher(rank_program), std::move(several));
}

void add_host_lock_flags(CLI::App& command, WorkFlags& flags) {
  command
      .add_flag("--no-host-lock", flags.no_host_lock,
                "Do not wait for other runs on this host (they disturb each other)")
      ->group(kHostGroup);
  command.add_option("--host-lock", flags.host_lock, "Use this lock file in place of the host's common one")
      ->group(kHostGroup);
}

void add_work_flags(CLI::App& command, WorkFlags& flags) {
  add_store_option(command, flags.store);
  command.add_flag("--quiet", flags.quiet, "Print no progress on stderr")->group(kOutputGroup);
  command.add_option("--lease", flags.lease_seconds, "Take a run from an agent after this many seconds of silence")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 86400.0))
      ->group(kHostGroup);
  command
      .add_option("--hosts", flags.hosts,
                  "Spread the ranks of a run over these hosts, by Open MPI; all share the run directory")
      ->delimiter(',')
      ->group(kHostGroup);
  command.add_option("--interface", flags.interface, "Let ranks find each other on this network device")
      ->group(kHostGroup);
  command
      .add_option("--spool", flags.spool,
                  "Keep finished runs in this folder until the store has them [one in /var/tmp]")
      ->type_name("FOLDER")
      ->group(kHostGroup);
  add_host_lock_flags(command, flags);
  command
      .add_option("--launcher", flags.launcher,
                  "Start runs of several ranks by this [srun inside an allocation of Slurm, else mpirun]")
      ->check(CLI::IsMember({"srun", "mpirun"}))
      ->group(kHostGroup);
  command
      .add_option(
          "--run-folder", flags.run_folder,
          "Keep files of runs in this folder; ranks on several hosts need one that all see [the temporary directory]")
      ->type_name("FOLDER")
      ->group(kHostGroup);
}

void add_wait_flags(CLI::App& command, WaitFlags& flags) {
  command.add_option("--idle", flags.idle_seconds, "Wait this many seconds for new runs before an agent ends")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e7))
      ->group(kHostGroup);
  command
      .add_option("--patience", flags.patience_seconds,
                  "Wait this many seconds for a store that is away before an agent ends")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e7))
      ->group(kHostGroup);
}

std::string plan_with_failed(store::Store& store, plan::Campaign& campaign, bool again) {
  auto id = store.plan(campaign, again).campaign;
  const auto progress = store.progress(id);
  if (again || progress.failed == 0) return id;
  if (progress.failed == progress.runs) return store.plan(campaign, true).campaign;
  if (campaign.measure.stop || campaign.grows) return id;  // looks and planners count on their own
  std::map<std::string, std::set<std::int64_t>> failed;    // indexes of runs; of a pair those of either
  for (const auto& row : store.runs({.campaign = id})) {
    if (row.outcome != OutcomeKind::ok) failed[campaign.lockstep ? "" : row.trial].insert(row.index);
  }
  campaign.runs_of_trial.clear();
  for (const auto& trial : campaign.trials) {
    const auto more = failed[campaign.lockstep ? "" : trial_id(trial)].size();
    campaign.runs_of_trial.push_back(campaign.runs + static_cast<std::int64_t>(more));
  }
  return store.plan(campaign, false).campaign;
}

measure::AgentEnd work_on_planned(const WorkFlags& flags, store::Store& store, const plan::Catalog& catalog,
                                  plan::Campaign campaign, const std::string& id, int stop_fd,
                                  const ProgressLine::Heard& heard) {
  for (;;) {
    const auto progress = store.progress(id);
    const bool done = progress.ready + progress.leased == 0;  // then no agent need look
    const auto end =
        done ? measure::AgentEnd::nothing_left : work_on(flags, store, catalog, id, campaign.lockstep, stop_fd, heard);
    if (end != measure::AgentEnd::nothing_left || !campaign.measure.stop) return end;
    campaign.runs_of_trial = next_look(store, id, flags.quiet);
    if (campaign.runs_of_trial.empty() || store.plan(campaign, false).new_runs == 0) return end;
  }
}

measure::AgentEnd work(const WorkFlags& flags, store::Store& store, const plan::Catalog& catalog,
                       const plan::Campaign& campaign, bool again, int stop_fd, std::string& id) {
  id = store.plan(campaign, again).campaign;
  return work_on_planned(flags, store, catalog, campaign, id, stop_fd);
}

}  // namespace assay::cli
