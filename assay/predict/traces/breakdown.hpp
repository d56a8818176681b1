#pragma once

#include "assay/predict/traces/trace_window.hpp"

namespace assay::predict {

/// Where the time of a device goes, from its first work to its last. compute, exposed_communication, copies and idle
/// add up to 1; host_bound, input and waiting to idle.
struct RankBreakdown {
  std::int64_t rank = 0;
  std::string file;
  std::int64_t steps = 1;
  double step_seconds = 0;
  double device_seconds = 0;  ///< of a step, from the first work to the last: what the shares are of
  double compute = 0;
  double communication = 0;             ///< all of it
  double exposed_communication = 0;     ///< while nothing is computed
  double overlapped_communication = 0;  ///< while something is computed
  double copies = 0;                    ///< while nothing is computed or communicated
  double idle = 0;
  double host_bound = 0;  ///< idle, because the host had not launched the next work
  double input = 0;       ///< idle, while the host waits for input
  double waiting = 0;     ///< idle though work was launched: events, other ranks, gaps between kernels
};

template <typename V>
void describe(V& v, RankBreakdown& b) {
  v("rank", b.rank);
  v("file", b.file);
  v("steps", b.steps);
  v("step_seconds", b.step_seconds);
  v("device_seconds", b.device_seconds);
  v("compute", b.compute);
  v("communication", b.communication);
  v("exposed_communication", b.exposed_communication);
  v("overlapped_communication", b.overlapped_communication);
  v("copies", b.copies);
  v("idle", b.idle);
  v("host_bound", b.host_bound);
  v("input", b.input);
  v("waiting", b.waiting);
}

RankBreakdown breakdown_of(const TraceWindow& window);

}  // namespace assay::predict
