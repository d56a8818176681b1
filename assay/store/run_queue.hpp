#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/core/trial.hpp"
#include "assay/plan/campaign.hpp"

namespace assay::store {

/// A process that takes runs. Boot id, pid and start time name one process on one host for ever; a pid means something
/// only to processes of the same pid namespace.
struct Owner {
  std::string host;
  std::string boot_id;
  std::int64_t pid = 0;
  std::int64_t start_ticks = 0;  ///< field 22 of /proc/PID/stat
  std::string pid_namespace{};   ///< as /proc/self/ns/pid names it; empty where that cannot be read
};

/// A run as its owner holds it.
struct LeasedRun {
  std::int64_t run = 0;    ///< the store's own key, which is never given to another run
  std::int64_t epoch = 0;  ///< how often the run has been taken: for people and for names of folders
  std::int64_t attempt = 0;
  std::int64_t index = 0;
  std::string trial_id;
  Trial trial;
  std::optional<Pair> pair;
};

/// One run, or all of a lock-step group, its reference first: taken, renewed, completed and given back together.
struct Lease {
  std::string campaign;
  std::string claim;      ///< 128 random bits as hexadecimal digits: who has them holds the runs, and nobody else does
  std::int64_t seed = 1;  ///< of the campaign
  Measure measure;
  std::vector<LeasedRun> runs;
};

/// What an agent has: it is given only runs whose needs that meets.
struct Offer {
  std::string platform;              ///< id of its machine; a campaign may ask for one
  std::vector<std::string> workers;  ///< at hand, as "name==release"
  std::vector<std::string> devices;  ///< "cpu", "cuda"
  std::int64_t hosts = 1;            ///< over which it can spread the ranks of a run
};

struct LeaseRequest {
  std::string campaign;
  Owner owner;
  double seconds = 60;
  std::optional<Offer> offer;  ///< null: takes every run
  /// Says of an owner with our boot id whether its process is certainly gone; such a lease is free at once.
  std::function<bool(const Owner&)> is_dead;
};

enum class Renewal {
  held,
  lost,  ///< the store names another claim: end the work, write nothing
};

enum class Completion {
  accepted,
  repeated,  ///< this very result is stored already; nothing was written
  stale,     ///< the store names another claim, or knows no such run: nothing was written
  kept,      ///< the store cannot be used now: the records are in a spool, which delivers them once (spool.hpp)
};

/// The result of one run of a lease.
struct Finished {
  Record record;
  bool again = false;  ///< keep the record uncounted and set the run back to ready as attempt+1
};

/// Where a campaign stands.
struct Progress {
  std::int64_t runs = 0;
  std::int64_t ready = 0;
  std::int64_t leased = 0;
  std::int64_t done = 0;       ///< with a counted record, failed ones included
  std::int64_t failed = 0;     ///< of done: outcome other than ok
  std::int64_t set_aside = 0;  ///< records of earlier attempts
};

template <typename V>
void describe(V& v, Progress& p) {
  required(v, "runs", p.runs);
  required(v, "ready", p.ready);
  required(v, "leased", p.leased);
  required(v, "done", p.done);
  required(v, "failed", p.failed);
  required(v, "set_aside", p.set_aside);
}

struct CampaignRow {
  std::string id;
  std::string name;
  std::int64_t round = 0;
  std::string created_utc;
  Measure measure;
  std::int64_t seed = 1;
  bool lockstep = false;
  Progress progress;
};

/// What an agent needs of a store: runs to take, and a place for their results. Failures are those of Store.
class RunQueue {
 public:
  virtual ~RunQueue() = default;

  /// Names the store wherever it is moved to: 32 hexadecimal digits, drawn when it was made.
  virtual std::string uuid() = 0;

  /// Takes the next ready run of the campaign, with its group. Frees leases that ran out on the store's clock and
  /// those of dead owners on this host. Null when no run is ready.
  [[nodiscard]] virtual std::optional<Lease> lease(const LeaseRequest& request) = 0;

  /// Moves the end of the lease to `seconds` from now on the store's clock, also of one that ran out and that nobody
  /// else has taken.
  [[nodiscard]] virtual Renewal renew(const Lease& lease, double seconds) = 0;

  /// Stores the records (one per run of the lease, in order) and the runs' new state as one transaction. Their
  /// campaign, trial, index and attempt are those of the lease, and the store compares them with the run's own;
  /// `counted`, `pair` and `writer` are set by the store. Where one of a group is to be measured again, all
  /// are. A late result counts if nobody else has taken the run.
  [[nodiscard]] virtual Completion complete(const Lease& lease, const std::vector<Finished>& finished) = 0;

  /// Sets the runs back to ready, unmeasured, at the same attempt. Does nothing where the claim is stale.
  virtual void release(const Lease& lease) = 0;

  virtual void put_platform(const std::string& id, const json& platform) = 0;
  virtual std::vector<CampaignRow> campaigns() = 0;            ///< oldest first
  virtual Progress progress(const std::string& campaign) = 0;  ///< Error{usage} where there is no such campaign
};

/// A claim for a new lease.
std::string new_claim();

}  // namespace assay::store
