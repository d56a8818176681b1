#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "assay/load/queries/request.hpp"

namespace assay::load {

/// How the client itself fared in one window of time.
struct ClientWindow {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t due = 0;        ///< requests
  double lateness_p99_ns = 0;  ///< of these, and of probes every 5 ms
  double lateness_most_ns = 0;
  std::optional<std::int64_t> steal_ns;  ///< taken by the hypervisor from the CPUs allowed
  std::int64_t cpu_ns = 0;               ///< used by the client's thread
};

template <typename V>
void describe(V& v, ClientWindow& w) {
  v("begin_ns", w.begin_ns);
  v("end_ns", w.end_ns);
  v("due", w.due);
  v("lateness_p99_ns", w.lateness_p99_ns);
  v("lateness_most_ns", w.lateness_most_ns);
  v("steal_ns", w.steal_ns);
  v("cpu_ns", w.cpu_ns);
}

/// What one schedule gave.
struct Sent {
  std::vector<Request> requests;
  std::vector<ClientWindow> windows;
  std::int64_t elapsed_ns = 0;
  std::int64_t cpu_ns = 0;          ///< of the client's thread
  std::int64_t connections = 0;     ///< that were opened
  std::int64_t most_under_way = 0;  ///< requests at once
  std::int64_t waited = 0;          ///< requests that were due while all connections were in use
  std::int64_t connection_cap = 0;  ///< what the kernel and the caller allow
  bool stopped = false;             ///< by stop_fd
};

}  // namespace assay::load
