#pragma once

#include <string>

#include "assay/measure/agent/agent.hpp"
#include "assay/measure/agent/memory.hpp"
#include "assay/measure/order.hpp"
#include "assay/platform/machine/machine.hpp"

namespace assay::measure {

/// What carrying out a lease needs besides the lease.
struct ExecutionContext {
  const plan::Catalog& catalog;
  Launcher& launcher;
  AgentObserver& observer;
  const AgentOptions& options;
  const platform::Machine& machine;
  process::Waiting& waiting;
  int lock_fd;         ///< kept open by every assay-rank; -1: none
  KnownMemory& peaks;  ///< grows with what is measured
};

/// Carries out the runs of a lease and completes it in the store. Nothing of it is left running when this returns.
/// A lease that was lost meanwhile leaves nothing in the store. Throws Error{failure} where the runs of a lock-step
/// group do not fit in memory at once; nothing was started then.
AgentEnd execute(const store::Lease& lease, const ExecutionContext& context, store::RunQueue& store, int stop_fd);

/// Completes a lease whose runs could not be started, for the reason that `message` says.
void complete_not_started(const store::Lease& lease, const ExecutionContext& context, store::RunQueue& store,
                          const std::string& message);

/// One order for all runs of a lease. Throws Error where a worker is not at hand.
Order make_order(const store::Lease& lease, const ExecutionContext& context, const std::string& mark);

/// The outcome of a run from those of its processes: the failure that came first, else ok.
Outcome outcome_of(const std::vector<RankResult>& ranks);

}  // namespace assay::measure
