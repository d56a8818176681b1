#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/measure/agent/agent.hpp"
#include "assay/plan/campaign.hpp"
#include "assay/store/spool.hpp"
#include "assay/store/store.hpp"
#include "cli/progress.hpp"

namespace assay::cli {

/// How an agent in this process works.
struct WorkFlags {
  std::string store = "assay.db";
  bool quiet = false;
  bool says_goes_on = true;   ///< that runs of the campaign are done already; no news in the middle of a measurement
  bool measure_again = true;  ///< disturbed runs; not where there is a time to fill, in which the next run does as well
  double lease_seconds = 60;
  bool no_host_lock = false;
  std::string host_lock;
  std::vector<std::string> hosts;
  std::string interface;
  std::string spool;       ///< folder; empty: one of this host and user
  std::string launcher;    ///< srun or mpirun; empty: srun inside a Slurm allocation
  std::string run_folder;  ///< empty: one of this user in the temporary directory
};

/// How long an agent waits.
struct WaitFlags {
  double idle_seconds = 0;
  double patience_seconds = 600;
};

/// Where agents of this user and host keep finished runs until the store has them.
std::filesystem::path spool_of(const WorkFlags& flags);

/// What an agent goes by, of these flags and of the store it works for.
measure::AgentOptions agent_options(const WorkFlags& flags, store::RunQueue& queue);

/// Runs `agent`; an error that ends it also says where finished runs are kept.
measure::AgentEnd work_with(store::SpooledQueue& queue, const std::function<measure::AgentEnd()>& agent);

/// For runs on this host, and with mpirun or srun for runs of several ranks.
std::unique_ptr<measure::Launcher> launcher_of(const measure::AgentOptions& options);

void add_work_flags(CLI::App& command, WorkFlags& flags);
void add_host_lock_flags(CLI::App& command, WorkFlags& flags);
void add_wait_flags(CLI::App& command, WaitFlags& flags);

/// Plans a campaign, with one run more of a trial for each of its runs that failed, so that the same command tries them
/// again: these are then asked for in `campaign`. Where no run was good, or with `again`, it is the next round. Its id.
std::string plan_with_failed(store::Store& store, plan::Campaign& campaign, bool again);

/// Runs one agent until nothing is left to do of a campaign that is planned. One that stops by itself is planned
/// further at every look.
measure::AgentEnd work_on_planned(const WorkFlags& flags, store::Store& store, const plan::Catalog& catalog,
                                  plan::Campaign campaign, const std::string& id, int stop_fd,
                                  const ProgressLine::Heard& heard = {});

/// Plans a campaign and works on it. Its id is left in `id` at once.
measure::AgentEnd work(const WorkFlags& flags, store::Store& store, const plan::Catalog& catalog,
                       const plan::Campaign& campaign, bool again, int stop_fd, std::string& id);

}  // namespace assay::cli
