#pragma once

#include <cmath>

#include "assay/core/clock.hpp"
#include "assay/core/replay.hpp"
#include "workers/common/worker.hpp"

namespace assay::mpi {

/// The file of a workload `FILE.replay`. Throws Refused where it has changed since it was planned, is no replay, or the
/// workload is another than the file's.
Replay read_replay(const worker::Prepare& prepare);

/// Nanoseconds of one step that was replayed.
struct Replayed {
  std::int64_t forward_ns = 0;
  std::int64_t backward_ns = 0;
  std::int64_t communicate_ns = 0;  ///< what was not over with the backward pass
  std::int64_t update_ns = 0;
};

struct MonotonicClock {
  std::int64_t now_ns() const { return monotonic_ns(); }
  void sleep_until(std::int64_t deadline_ns) const { sleep_until_ns(deadline_ns); }
};

/// Plays one step; `exchange(i)` returns when bucket i has travelled. Computing is waiting until points in time that
/// are set when the step begins, and they come whatever else goes on: one thread does both, as if they were two.
template <typename Clock, typename Exchange>
Replayed play(const Replay& replay, Clock&& clock, Exchange&& exchange) {
  const auto ns = [](double seconds) { return static_cast<std::int64_t>(std::llround(1e9 * seconds)); };
  const std::int64_t begin_ns = clock.now_ns();
  const std::int64_t computed_ns = begin_ns + ns(replay.forward_seconds + replay.backward_seconds);
  for (std::size_t i = 0; i < replay.buckets.size(); ++i) {
    clock.sleep_until(begin_ns + ns(replay.buckets[i].ready_seconds));
    exchange(i);
  }
  clock.sleep_until(computed_ns);
  const std::int64_t exchanged_ns = clock.now_ns();
  if (replay.update_seconds > 0) clock.sleep_until(exchanged_ns + ns(replay.update_seconds));
  const std::int64_t forward_ns = ns(replay.forward_seconds);
  return {forward_ns, computed_ns - begin_ns - forward_ns, exchanged_ns - computed_ns, clock.now_ns() - exchanged_ns};
}

}  // namespace assay::mpi
