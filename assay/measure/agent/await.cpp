#include "assay/measure/agent/await.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include "assay/measure/rank/gang.hpp"
#include "assay/measure/rank/rank.hpp"

namespace assay::measure {
namespace {

constexpr std::int64_t kRankEndNs = 12'000'000'000;  // a rank told to stop has ended its tree well within this
// mpirun does not see that a host is cut off or a rank is stopped, and does not end then.
constexpr std::int64_t kLauncherEndNs = 3'000'000'000;
constexpr double kMostLaunchSeconds = 60;  // it may wait for a host without end, too
constexpr std::int64_t kTellNs = 500'000'000;
constexpr std::int64_t kLookNs = 250'000'000;
constexpr std::int64_t kAfterFailureNs = 3'000'000'000;  // for the others to leave their results
constexpr std::int64_t kAfterAllNs = 3'000'000'000;
constexpr int kKilled = 128;

}  // namespace

Ranks::Ranks(std::vector<process::Spawned> ranks, const Of& of)
    : ranks_(std::move(ranks)), of_(of), seen_(of.order.processes.size(), false) {
  const auto& m = of_.lease.measure;
  // For a rank that is itself stuck; a hanging worker is the rank's own business, and long over by then.
  const double seconds = m.prepare_limit_seconds + 8 * (m.warmup_seconds + m.seconds + m.limit_seconds) + 60;
  deadline_ns_ = now_ns() + static_cast<std::int64_t>(seconds * 1e9);
  renew_at_ns_ = next_renewal();
  if (of_.context.observer.follows()) tell_at_ns_ = now_ns() + kTellNs;
  if (!of_.order.meeting) return;
  look_at_ns_ = now_ns() + kLookNs;
  const double launch_seconds = std::min(m.prepare_limit_seconds, kMostLaunchSeconds);
  launch_by_ns_ = now_ns() + static_cast<std::int64_t>(launch_seconds * 1e9);
}

RanksEnd Ranks::wait(int stop_fd) {
  while (alive() > 0) {
    if (poll_once(stop_fd)) return stop(RanksEnd::stopped);
    if (now_ns() >= look_at_ns_) look_for_results();
    if (now_ns() >= tell_at_ns_) tell_observer();
    if (now_ns() >= std::min(deadline_ns_, launch_by_ns_)) return stop(RanksEnd::finished);
    if (now_ns() >= renew_at_ns_ && !renew()) return stop(RanksEnd::lost);
  }
  return RanksEnd::finished;
}

std::size_t Ranks::alive() const {
  return static_cast<std::size_t>(std::count_if(ranks_.begin(), ranks_.end(), [](const auto& r) { return r.pid > 0; }));
}

/// True when the agent was asked to stop.
bool Ranks::poll_once(int stop_fd) {
  std::vector<pollfd> fds{{stop_fd, POLLIN, 0}};
  for (const auto& rank : ranks_) fds.push_back({rank.pid > 0 ? rank.pidfd.get() : -1, POLLIN, 0});
  const std::int64_t patience = std::max<std::int64_t>(
      0, std::min({deadline_ns_, launch_by_ns_, renew_at_ns_, look_at_ns_, tell_at_ns_}) - now_ns());
  of_.context.waiting.poll(fds, patience);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (fds[i + 1].revents == 0) continue;
    int status = 0;
    waitpid(ranks_[i].pid, &status, 0);
    if (WIFEXITED(status)) take_exit_code(WEXITSTATUS(status));
    ranks_[i].pid = -1;
  }
  return fds[0].revents != 0;
}

/// A launcher passes on the code of the rank that failed first, and tells of one that was killed as a shell does.
void Ranks::take_exit_code(int code) {
  const bool killed = of_.order.meeting && code > kKilled && code <= kKilled + SIGSYS;
  if (code > kRankDiskError && !killed) disk_error_ = code - kRankDiskError;
}

/// Behind a launcher the ranks themselves cannot be waited for: what they leave in the run directory tells.
void Ranks::look_for_results() {
  look_at_ns_ = now_ns() + kLookNs;
  if (launch_by_ns_ != kNever && std::filesystem::exists(of_.directory.path() / kMeetingFile)) launch_by_ns_ = kNever;
  bool failed = false;
  for (std::size_t number = 0; number < seen_.size(); ++number) {
    if (seen_[number]) continue;
    const auto result = of_.directory.read_result(number);
    seen_[number] = result.has_value();
    failed = failed || (result && result->outcome.kind != OutcomeKind::ok);
  }
  const bool all = std::all_of(seen_.begin(), seen_.end(), [](bool seen) { return seen; });
  if (failed) deadline_ns_ = std::min(deadline_ns_, now_ns() + kAfterFailureNs);
  if (all) deadline_ns_ = std::min(deadline_ns_, now_ns() + kAfterAllNs);
}

void Ranks::tell_observer() {
  tell_at_ns_ = now_ns() + kTellNs;
  if (const auto median = of_.sync.median_so_far()) of_.context.observer.measuring(of_.lease, *median);
}

RanksEnd Ranks::stop(RanksEnd why) {
  for (const auto& rank : ranks_) {
    if (rank.pid > 0) kill(rank.pid, SIGTERM);
  }
  const std::int64_t until = now_ns() + (of_.order.meeting ? kLauncherEndNs : kRankEndNs);
  deadline_ns_ = launch_by_ns_ = renew_at_ns_ = look_at_ns_ = tell_at_ns_ = until;
  while (alive() > 0 && now_ns() < until) poll_once(-1);
  return why;
}

/// False where the store names a newer epoch. A store that does not answer is no reason to end a worker.
bool Ranks::renew() {
  renew_at_ns_ = next_renewal();
  try {
    return of_.store.renew(of_.lease, of_.context.options.lease_seconds) == store::Renewal::held;
  } catch (const Error& error) {
    of_.context.observer.warning(fmt::format("the lease could not be renewed, going on: {}", error.what()));
    return true;
  }
}

std::int64_t Ranks::next_renewal() const {
  return now_ns() + static_cast<std::int64_t>(of_.context.options.lease_seconds / 3 * 1e9);
}

}  // namespace assay::measure
