#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/measure/agent/host_lock.hpp"
#include "assay/measure/agent/memory.hpp"
#include "assay/measure/launcher.hpp"
#include "assay/plan/catalog/catalog.hpp"
#include "assay/platform/machine/machine.hpp"
#include "assay/process/waiting.hpp"
#include "assay/store/run_queue.hpp"

namespace assay::measure {

struct AgentOptions {
  std::string campaign;  ///< id; empty: every one that the store shows, the oldest first
  double lease_seconds = 60;
  bool of_fleet = false;           ///< takes only what it can carry out here; a run that cannot be started is a result
  double idle_seconds = 0;         ///< how long to wait for new runs where nothing is left
  double patience_seconds = 600;   ///< how long to wait for a store that is away
  double poll_seconds = 0.2;       ///< between two looks at a store that has nothing ready
  bool measure_again = true;       ///< disturbed runs, as often as their campaign says
  bool host_lock = true;           ///< off only for emulated fleets: runs then disturb each other
  std::string host_lock_path;      ///< empty: the host's common lock
  std::filesystem::path run_root;  ///< where run directories are made
  std::filesystem::path cache;     ///< where workers keep what is costly to make; empty: nowhere
  std::filesystem::path data;      ///< below which data sets lie; empty: nowhere
  Hosts hosts;                     ///< for runs of several ranks
  KnownMemory known_memory;        ///< that runs took before, as far as the caller knows
  std::optional<std::int64_t> memory_bytes;  ///< that a lock-step group may take; null: what is available
  std::string store_mark;  ///< tells runs of this store from those of others that have the same campaign
};

/// What an agent tells whoever shows its progress.
class AgentObserver {
 public:
  virtual ~AgentObserver() = default;
  virtual void started(const store::Lease& lease) = 0;
  /// Whether measuring() is worth calling, now and then while runs are measured.
  virtual bool follows() const { return false; }
  /// What a step of the first run of the lease takes by its samples so far.
  virtual void measuring(const store::Lease& /*lease*/, std::int64_t /*median_ns*/) {}
  virtual void finished(const store::Lease& lease, const std::vector<store::Finished>& finished) = 0;
  /// Nothing can be done right now; called again while that lasts.
  virtual void waiting(const std::string& why) = 0;
  virtual void warning(const std::string& what) = 0;
};

enum class AgentEnd {
  nothing_left,
  stopped,  ///< by a signal; the run in hand went back to the store
};

/// Takes runs of a campaign from a store and carries them out on this host until nothing is left or `stop_fd` (a
/// signalfd or pipe) becomes readable. A run is started only under the host lock, and its record is written only while
/// the store names this agent as the run's owner. While the store is away the run in hand goes on.
class Agent {
 public:
  Agent(store::RunQueue& store, const plan::Catalog& catalog, Launcher& launcher, AgentObserver& observer,
        AgentOptions options, process::Waiting& waiting = process::real_waiting());

  AgentEnd work(int stop_fd);

 private:
  bool stop_asked(int stop_fd, double wait_seconds);
  double seconds_since(std::int64_t ns);
  /// Takes and carries out a run, or looks for what is left; an end where there is one.
  std::optional<AgentEnd> step(int stop_fd);
  std::optional<store::Lease> next_lease();
  AgentEnd carry_out(const store::Lease& lease, int stop_fd);
  /// Nothing was to be had: waits, or says that it is the end.
  std::optional<AgentEnd> rest(int stop_fd);
  store::Progress what_is_left();

  store::RunQueue& store_;
  const plan::Catalog& catalog_;
  Launcher& launcher_;
  AgentObserver& observer_;
  AgentOptions options_;
  process::Waiting& waiting_;
  platform::Machine machine_;
  HostLock lock_;
  store::LeaseRequest request_;
  KnownMemory peaks_;
  bool introduced_ = false;  ///< the store knows this platform
  int misfits_ = 0;          ///< looks in a row that found only runs that this agent cannot carry out
  int unstarted_ = 0;        ///< runs in a row that could not be started
  std::optional<std::int64_t> idle_since_ns_;
};

/// What an agent on this machine has to offer.
store::Offer offer_of(const plan::Catalog& catalog, const platform::Machine& machine, const Hosts& hosts);

/// This process, as a store names the owner of a lease.
store::Owner this_owner();
/// Whether an owner on this host is certainly gone. What cannot be known is no.
bool owner_is_dead(const store::Owner& owner);

}  // namespace assay::measure
