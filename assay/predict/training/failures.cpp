#include "assay/predict/training/failures.hpp"

#include <cmath>
#include <limits>

namespace assay::predict {
namespace {

constexpr double kMostTrainingSeconds = 1e6 * 365.25 * 86400;

/// n pieces of work of `seconds` each, without a failure.
struct Pieces {
  double count = 0;
  double seconds = 0;
};

void add(TrainingTime& t, const Pieces& pieces, const FailurePractice& p) {
  if (!(pieces.count > 0)) return;
  const double f = p.failures_per_second;
  const double whole = pieces.seconds + p.checkpoint_seconds;
  t.checkpoint_seconds += pieces.count * p.checkpoint_seconds;
  if (!(f > 0)) return;
  // A piece is tried until it is whole: e^(f s) - 1 failures in the mean, which take (e^(f s) - 1) / f with the try
  // that succeeds. A restart of R is tried until it is whole too: (e^(f R) - 1) / f.
  const double failures = std::expm1(f * whole);
  t.lost_seconds += pieces.count * (failures / f - whole);
  t.restart_seconds += pieces.count * failures * std::expm1(f * p.restart_seconds) / f;
  t.failures += pieces.count * failures * std::exp(f * p.restart_seconds);
}

}  // namespace

double best_interval(double failures_per_second, double checkpoint_seconds) {
  const double f = failures_per_second;
  if (!(f > 0)) return std::numeric_limits<double>::infinity();
  // (1 - x) e^(x + f d) falls from e^(f d) at 0 to 0 at 1: its root is found by halving.
  double low = 0;
  double high = 1;
  for (int i = 0; i < 200; ++i) {
    const double x = (low + high) / 2;
    (std::log1p(-x) + x + f * checkpoint_seconds > 0 ? low : high) = x;
  }
  return (low + high) / 2 / f;
}

double waiting_share(const FailurePractice& p) {
  if (!p.spare_nodes) return 0;
  const double offered = p.failures_per_second * p.repair_seconds;
  double blocked = 1;
  for (std::int64_t k = 1; k <= *p.spare_nodes + 1; ++k) {
    blocked = offered * blocked / (static_cast<double>(k) + offered * blocked);
  }
  return blocked;
}

TrainingTime expected_time(double work_seconds, double interval_seconds, const FailurePractice& p) {
  TrainingTime t;
  t.useful_seconds = work_seconds;
  t.interval_seconds = interval_seconds;
  const double whole = std::floor(work_seconds / interval_seconds * (1 + 1e-12));
  const double rest = work_seconds - whole * interval_seconds;
  add(t, {whole, interval_seconds}, p);
  if (rest > 1e-9 * work_seconds) add(t, {1, rest}, p);
  t.seconds = t.useful_seconds + t.checkpoint_seconds + t.lost_seconds + t.restart_seconds;
  const double waits = waiting_share(p);
  t.waiting_seconds = t.seconds * waits / (1 - waits);
  t.seconds += t.waiting_seconds;
  if (t.seconds < kMostTrainingSeconds) return t;
  fail(ErrorKind::usage,
       "a training that fails every {:.3g} s and saves for {:.3g} s after every {:.3g} s of work does not end. Save "
       "more "
       "often, or in less time.",
       1 / p.failures_per_second, p.checkpoint_seconds, interval_seconds);
}

}  // namespace assay::predict
