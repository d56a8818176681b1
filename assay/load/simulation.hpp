#pragma once

#include <functional>

#include "assay/load/queries/ledger.hpp"
#include "assay/load/sent.hpp"

namespace assay::load {

/// A server in virtual time: some workers that serve requests in the order of their arrival.
struct QueueServer {
  std::int64_t workers = 1;                             ///< 0: all requests at once
  std::function<std::int64_t(std::size_t)> service_ns;  ///< of each request, by its place in the schedule
  std::int64_t stall_at_ns = 0;
  std::int64_t stall_ns = 0;  ///< in which no service begins
};

/// A client that does nothing for a while, as one that is starved of its CPU.
struct SimulatedPause {
  std::int64_t at_ns = 0;
  std::int64_t length_ns = 0;
};

/// Sends a schedule in virtual time, by the ledger that real runs use: exact, and the same everywhere. A request with
/// its connection takes no time but its service and its waiting.
Sent simulate_schedule(const QueueServer& server, std::vector<Arrival> schedule, const Ledger::Rules& rules,
                       const SimulatedPause& pause = {});

}  // namespace assay::load
