#include "assay/predict/training/failure_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <random>

namespace assay::predict {
namespace {

constexpr std::size_t kMostFailures = 10'000'000;

/// The machines of one course: when the next fails, and which are being mended.
class Machines {
 public:
  Machines(const FailurePractice& practice, std::uint64_t seed) : p_(practice), random_(seed) { draw(); }

  double now() const { return now_; }
  double until_failure() const { return left_; }

  /// Time passes, less than until_failure().
  void pass(double seconds) {
    now_ += seconds;
    left_ -= seconds;
  }

  /// Time passes to the failure. Waits where no spare is left; returns for how long.
  double fail_now() {
    now_ += left_;
    if (++failures_ > kMostFailures) {
      assay::fail(ErrorKind::usage, "a training with more than {} failures is not simulated. Save more often.",
                  kMostFailures);
    }
    draw();
    if (!p_.spare_nodes) return 0;
    while (!mended_at_.empty() && mended_at_.top() <= now_) mended_at_.pop();
    mended_at_.push(now_ + p_.repair_seconds);
    if (static_cast<std::int64_t>(mended_at_.size()) <= *p_.spare_nodes) return 0;
    const double waited = mended_at_.top() - now_;
    now_ = mended_at_.top();
    mended_at_.pop();
    return waited;
  }

 private:
  /// By the inverse of the distribution, so that every library draws the same.
  void draw() {
    if (!(p_.failures_per_second > 0)) {
      left_ = std::numeric_limits<double>::infinity();
      return;
    }
    const double uniform = (static_cast<double>(random_() >> 11) + .5) * 0x1p-53;
    left_ = -std::log(uniform) / p_.failures_per_second;
  }

  const FailurePractice& p_;
  std::mt19937_64 random_;
  double now_ = 0;
  double left_ = 0;
  std::size_t failures_ = 0;
  std::priority_queue<double, std::vector<double>, std::greater<>> mended_at_;
};

}  // namespace

SimulatedTraining simulate_training(double work_seconds, double interval_seconds, const FailurePractice& p,
                                    std::uint64_t seed, bool keep_failures) {
  SimulatedTraining course;
  auto& t = course.time;
  t.useful_seconds = work_seconds;
  t.interval_seconds = interval_seconds;
  Machines machines(p, seed);
  double done = 0;
  while (work_seconds - done > 1e-9 * work_seconds) {
    // Whole pieces until the failure, all at once.
    const double full = interval_seconds + p.checkpoint_seconds;
    const double pieces_left = std::floor((work_seconds - done) / interval_seconds * (1 + 1e-12));
    const double pieces = std::min(pieces_left, std::floor(machines.until_failure() / full));
    if (pieces > 0) {
      machines.pass(pieces * full);
      done += pieces * interval_seconds;
      t.checkpoint_seconds += pieces * p.checkpoint_seconds;
      continue;
    }
    const double work = std::min(interval_seconds, work_seconds - done);
    if (machines.until_failure() > work + p.checkpoint_seconds) {
      machines.pass(work + p.checkpoint_seconds);
      done += work;
      t.checkpoint_seconds += p.checkpoint_seconds;
      continue;
    }
    const double lost = machines.until_failure();
    t.lost_seconds += lost;
    t.waiting_seconds += machines.fail_now();
    const double failed_at = machines.now();
    ++t.failures;
    while (machines.until_failure() < p.restart_seconds) {
      t.restart_seconds += machines.until_failure();
      t.waiting_seconds += machines.fail_now();
      ++t.failures;
    }
    machines.pass(p.restart_seconds);
    t.restart_seconds += p.restart_seconds;
    if (keep_failures) course.failures.push_back({failed_at, lost, machines.now()});
  }
  t.seconds = machines.now();
  return course;
}

}  // namespace assay::predict
