#include "assay/measure/rank/watch.hpp"

#include "assay/core/clock.hpp"
#include "assay/measure/rank/session.hpp"
#include "assay/platform/memory.hpp"
#include "assay/platform/process.hpp"

namespace assay::measure {
namespace {

constexpr double kStoppedSeconds = 3;

}  // namespace

void WorkerWatch::check_stop() const {
  if (around_.stop != 0) worker_failed(OutcomeKind::interrupted, "Assay was asked to stop");
}

void WorkerWatch::look(pid_t worker, Gang* gang) {
  check_stop();
  check_others(worker, gang);
  // The worker itself at every look, everything it started once a second: walking a tree costs CPU that is measured.
  const bool whole_tree = monotonic_ns() >= next_tree_check_ns_;
  if (whole_tree) next_tree_check_ns_ = monotonic_ns() + 1'000'000'000;
  if (whole_tree && gang != nullptr) check_directory();
  check_memory(worker, whole_tree);
}

void WorkerWatch::check_others(pid_t worker, Gang* gang) {
  if (gang != nullptr) {
    gang->attend();
    check_stopped(worker);
  } else if (const auto culprit = around_.sync.aborted_by(); culprit && *culprit != number_) {
    worker_failed(OutcomeKind::interrupted, fmt::format("ended because process {} of the same run failed", *culprit));
  }
}

/// The other ranks would wait for it without end.
void WorkerWatch::check_stopped(pid_t worker) {
  if (!platform::is_stopped(worker)) {
    stopped_since_ns_ = 0;
    return;
  }
  if (stopped_since_ns_ == 0) stopped_since_ns_ = monotonic_ns();
  if (static_cast<double>(monotonic_ns() - stopped_since_ns_) > kStoppedSeconds * 1e9) {
    worker_failed(OutcomeKind::timed_out, fmt::format("its worker has been stopped for {} s", kStoppedSeconds));
  }
}

/// On another host than the agent nothing tells that the agent is gone or has given the run up, but this.
void WorkerWatch::check_directory() const {
  if (std::error_code error; !std::filesystem::exists(around_.directory, error) && !error) {
    worker_failed(OutcomeKind::interrupted, "nobody waits for this run any more: its directory is gone");
  }
}

void WorkerWatch::check_memory(pid_t worker, bool whole_tree) const {
  const std::int64_t resident =
      platform::resident_bytes(whole_tree ? worker_tree(energy_) : std::vector<pid_t>{worker});
  if (resident <= memory_limit_) return;
  // Forked children share pages with their parent and would each count them: make sure before ending anything.
  const std::int64_t used = platform::proportional_bytes(worker_tree(energy_)).value_or(resident);
  if (used > memory_limit_) {
    worker_failed(OutcomeKind::out_of_memory, fmt::format("{} bytes in use, the limit is {}", used, memory_limit_));
  }
}

}  // namespace assay::measure
