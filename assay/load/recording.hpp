#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/load/load.hpp"
#include "assay/plan/campaign.hpp"
#include "assay/platform/machine/machine.hpp"
#include "assay/store/store.hpp"

namespace assay::load {

/// A server as a trial names it.
struct NamedServer {
  std::string url;                                ///< without what follows a ?
  Worker worker{"server", ""};                    ///< its program, as the user calls it
  std::optional<std::vector<std::string>> start;  ///< where Assay starts it
};

/// NAME or NAME==RELEASE; "server" where it is empty. Throws Error{usage} with examples.
Worker named_worker(const std::string& text);

/// What a question asks, without its seed: runs of one trial differ by that alone.
Trial trial_of(const LoadQuestion& question, const NamedServer& server);

/// One run that was sent.
struct MeasuredLoad {
  Outcome outcome;
  std::int64_t seed = 0;
  LoadPoint point;
  std::vector<Request> requests;
  std::optional<LoadPoint> certification;
};

/// How a run whose requests had these outcomes ended: ok where one was answered.
Outcome outcome_of(const LoadPoint& point);

/// A record without what its lease and its machine say. Samples are latencies from the schedule of requests that went
/// well; the summary counts the others as slower than all of these. A run whose client was starved is not trusted.
Record record_of(const MeasuredLoad& measured);

/// Keeps runs in a store, as an agent does: planned, leased, completed.
class Recorder {
 public:
  /// Plans `campaign`; a round that is finished is followed by the next. One that grows has no trials yet. `as` says
  /// who takes the runs: its owner and is_dead.
  Recorder(store::Store& store, store::RunQueue& queue, plan::Campaign campaign, store::LeaseRequest as);

  /// Asks for one run more of a trial, in a campaign that grows.
  void add(const Trial& trial);

  /// The next run, leased for so many seconds; null where all are done.
  [[nodiscard]] std::optional<store::Lease> take(double seconds);

  /// A seed for the prompts of a run: another one for each run of each round, so that no cache knows them.
  std::int64_t fresh_prompts(const store::Lease& lease) const;

  /// Throws Error{failure} where the store gave the run to somebody else meanwhile.
  void complete(const store::Lease& lease, Record record, const std::string& started_utc, std::int64_t began_ns);
  void release(const store::Lease& lease) { queue_.release(lease); }

  const std::string& campaign() const { return id_; }

 private:
  void plan();

  store::Store& store_;
  store::RunQueue& queue_;
  plan::Campaign campaign_;
  store::LeaseRequest as_;
  platform::Machine machine_;
  std::string id_;  ///< empty until there is something to do
};

}  // namespace assay::load
