#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/load/client/completion.hpp"
#include "assay/load/client/target.hpp"
#include "assay/load/queries/ledger.hpp"
#include "assay/load/sent.hpp"

namespace assay::load {

/// How a client sends.
struct Sending {
  Form form;
  std::int64_t prefix_words = 0;
  std::string authorization;       ///< value of the header Authorization; in no record
  std::size_t connections = 4096;  ///< at most, at once
  std::int64_t timeout_ns = 60'000'000'000;
  std::int64_t drain_ns = 30'000'000'000;  ///< waited after the last request was due
  int stop_fd = -1;                        ///< ends the run once it is readable
};

/// Sends a schedule to a server, in the calling thread: one loop on epoll, with a timer for the deadlines. Raises the
/// soft limit of open files where the schedule may need it. Throws Error only where the kernel gives no epoll or timer.
/// `rules` say whether it is a closed loop; its number of connections is that of `sending`, as far as the kernel
/// allows.
Sent send_schedule(const Target& target, const Sending& sending, std::vector<Arrival> schedule, Ledger::Rules rules);

}  // namespace assay::load
