#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/measure/launcher.hpp"
#include "assay/plan/catalog.hpp"
#include "assay/store/store.hpp"

namespace assay::measure {

struct AgentOptions {
  std::string campaign;
  double lease_seconds = 60;
  bool host_lock = true;           ///< off only for emulated fleets: runs then disturb each other
  std::string host_lock_path;      ///< empty: the host's common lock
  std::filesystem::path run_root;  ///< where run directories are made
  std::filesystem::path cache;     ///< where workers keep what is costly to make; empty: nowhere
  std::filesystem::path data;      ///< below which data sets lie; empty: nowhere
  Hosts hosts;                     ///< for runs of several ranks
  std::string store_mark;          ///< tells runs of this store from those of others that have the same campaign
};

/// What an agent tells whoever shows its progress.
class AgentObserver {
 public:
  virtual ~AgentObserver() = default;
  virtual void started(const store::Lease& lease) = 0;
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
/// the store names this agent as the run's owner.
class Agent {
 public:
  Agent(store::Store& store, const plan::Catalog& catalog, Launcher& launcher, AgentObserver& observer,
        AgentOptions options);

  AgentEnd work(int stop_fd);

 private:
  bool stop_asked(int stop_fd, std::int64_t wait_ns) const;

  store::Store& store_;
  const plan::Catalog& catalog_;
  Launcher& launcher_;
  AgentObserver& observer_;
  AgentOptions options_;
};

/// This process, as a store names the owner of a lease.
store::Owner this_owner();
/// Whether an owner on this host is gone.
bool owner_is_dead(const store::Owner& owner);

}  // namespace assay::measure
