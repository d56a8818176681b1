#pragma once

#include <cstdint>
#include <optional>

#include "assay/core/text/json.hpp"

namespace assay::predict {

/// How a training meets failures. Work stops while a checkpoint is written; a failure loses what was done since the
/// last whole checkpoint; a restart takes its time, and a failure within it begins it again.
struct FailurePractice {
  double failures_per_second = 0;  ///< of all devices and nodes of the job, while it computes, saves or restarts
  double checkpoint_seconds = 0;   ///< that work stops for
  double restart_seconds = 0;      ///< until work goes on: noticing, replacing, loading
  std::optional<std::int64_t> spare_nodes;  ///< null: a broken node always has a replacement
  double repair_seconds = 0;                ///< until a broken node is a spare again
};

/// Where the time of a training goes, in the mean.
struct TrainingTime {
  double seconds = 0;         ///< from begin to end
  double useful_seconds = 0;  ///< of steps that count
  double checkpoint_seconds = 0;
  double lost_seconds = 0;  ///< steps and checkpoints that a failure undid
  double restart_seconds = 0;
  double waiting_seconds = 0;  ///< for a node, where all spares are broken
  double failures = 0;
  double interval_seconds = 0;  ///< of work between two checkpoints

  double goodput() const { return seconds > 0 ? useful_seconds / seconds : 1; }
};

template <typename V>
void describe(V& v, TrainingTime& t) {
  required(v, "seconds", t.seconds);
  required(v, "useful_seconds", t.useful_seconds);
  required(v, "checkpoint_seconds", t.checkpoint_seconds);
  required(v, "lost_seconds", t.lost_seconds);
  required(v, "restart_seconds", t.restart_seconds);
  required(v, "waiting_seconds", t.waiting_seconds);
  required(v, "failures", t.failures);
  required(v, "interval_seconds", t.interval_seconds);
}

/// The interval of work between checkpoints that makes a training shortest: the root of
/// (1 - x) e^(x + f d) = 1, x = f t, for f failures a second and checkpoints of d seconds (docs/plan.md derives it).
/// Young's sqrt(2 d / f) is its limit for rare failures. Infinite where nothing fails.
double best_interval(double failures_per_second, double checkpoint_seconds);

/// The mean over all courses of failures that come at random (a Poisson process), exactly but for waiting, which is
/// that of a training without an end. Throws Error{usage} where it would not end within 1,000,000 years.
/// `interval_seconds` above zero, `work_seconds` not below.
TrainingTime expected_time(double work_seconds, double interval_seconds, const FailurePractice& practice);

/// Share of time for which more nodes are broken than there are spares: Erlang's B for one more than the spares.
double waiting_share(const FailurePractice& practice);

}  // namespace assay::predict
