#include "assay/measure/execution.hpp"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include "assay/core/clock.hpp"
#include "assay/core/utf8.hpp"
#include "assay/measure/environment.hpp"
#include "assay/measure/rank.hpp"
#include "assay/measure/run_directory.hpp"
#include "assay/measure/spawn.hpp"
#include "assay/measure/summary.hpp"
#include "assay/measure/sync.hpp"
#include "assay/measure/validity.hpp"
#include "assay/platform/cpus.hpp"
#include "assay/platform/placement.hpp"
#include "assay/platform/process.hpp"
#include "assay/platform/state.hpp"

namespace assay::measure {
namespace {

constexpr std::int64_t kMostInterruptions = 5;
constexpr std::size_t kMostNamed = 3;
constexpr std::int64_t kLookNs = 100'000'000;        // as long as a look at who disturbs takes
constexpr std::int64_t kRankEndNs = 12'000'000'000;  // a rank told to stop has ended its tree well within this

enum class RanksEnd { finished, stopped, lost };

std::int64_t processes_of(const Trial& trial) {
  return std::max(trial.settings.instances.value_or(1), trial.placement.ranks);
}

/// Waits for the assay-ranks of one lease, renewing the lease meanwhile.
class Ranks {
 public:
  Ranks(std::vector<Spawned> ranks, const store::Lease& lease, const ExecutionContext& context, store::Store& store)
      : ranks_(std::move(ranks)), lease_(lease), context_(context), store_(store) {
    const auto& m = lease.measure;
    // For a rank that is itself stuck; a hanging worker is the rank's own business, and long over by then.
    const double seconds = m.prepare_limit_seconds + 8 * (m.warmup_seconds + m.seconds + m.limit_seconds) + 60;
    deadline_ns_ = monotonic_ns() + static_cast<std::int64_t>(seconds * 1e9);
    renew_at_ns_ = next_renewal();
  }

  /// The errno with which the disk kept a rank from leaving its result; 0 where none did.
  int disk_error() const { return disk_error_; }

  RanksEnd wait(int stop_fd) {
    while (alive() > 0) {
      if (poll_once(stop_fd)) return stop(RanksEnd::stopped);
      if (monotonic_ns() >= deadline_ns_) return stop(RanksEnd::finished);
      if (monotonic_ns() >= renew_at_ns_ && !renew()) return stop(RanksEnd::lost);
    }
    return RanksEnd::finished;
  }

 private:
  std::size_t alive() const {
    return static_cast<std::size_t>(
        std::count_if(ranks_.begin(), ranks_.end(), [](const auto& r) { return r.pid > 0; }));
  }

  /// True when the agent was asked to stop.
  bool poll_once(int stop_fd) {
    std::vector<pollfd> fds{{stop_fd, POLLIN, 0}};
    for (const auto& rank : ranks_) fds.push_back({rank.pid > 0 ? rank.pidfd.get() : -1, POLLIN, 0});
    const std::int64_t patience = std::max<std::int64_t>(0, std::min(deadline_ns_, renew_at_ns_) - monotonic_ns());
    const timespec timeout{patience / 1'000'000'000, patience % 1'000'000'000};
    ppoll(fds.data(), fds.size(), &timeout, nullptr);
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (fds[i + 1].revents == 0) continue;
      int status = 0;
      waitpid(ranks_[i].pid, &status, 0);
      if (WIFEXITED(status) && WEXITSTATUS(status) > kRankDiskError) disk_error_ = WEXITSTATUS(status) - kRankDiskError;
      ranks_[i].pid = -1;
    }
    return fds[0].revents != 0;
  }

  RanksEnd stop(RanksEnd why) {
    for (const auto& rank : ranks_) {
      if (rank.pid > 0) kill(rank.pid, SIGTERM);
    }
    const std::int64_t until = monotonic_ns() + kRankEndNs;
    deadline_ns_ = renew_at_ns_ = until;
    while (alive() > 0 && monotonic_ns() < until) poll_once(-1);
    return why;
  }

  /// False where the store names a newer epoch. A store that does not answer is no reason to end a worker.
  bool renew() {
    renew_at_ns_ = next_renewal();
    try {
      return store_.renew(lease_, context_.options.lease_seconds) == store::Renewal::held;
    } catch (const Error& error) {
      context_.observer.warning(fmt::format("the lease could not be renewed, going on: {}", error.what()));
      return true;
    }
  }

  std::int64_t next_renewal() const {
    return monotonic_ns() + static_cast<std::int64_t>(context_.options.lease_seconds / 3 * 1e9);
  }

  std::vector<Spawned> ranks_;
  const store::Lease& lease_;
  const ExecutionContext& context_;
  store::Store& store_;
  std::int64_t deadline_ns_;
  std::int64_t renew_at_ns_;
  int disk_error_ = 0;
};

/// Ends what an earlier, lost attempt at the same runs may have left on this host.
void end_leftovers(const store::Lease& lease, const std::string& mark, const std::filesystem::path& root) {
  if (lease.runs.front().epoch <= 1) return;
  for (const pid_t pid : platform::processes_with_environment(std::string(kRunVariable) + "=" + mark))
    kill(pid, SIGKILL);
  for (std::int64_t epoch = std::max<std::int64_t>(1, lease.runs.front().epoch - 16); epoch < lease.runs.front().epoch;
       ++epoch) {
    std::error_code ignored;
    std::filesystem::remove_all(root / fmt::format("{}-{}", mark, epoch), ignored);
  }
}

std::vector<RankResult> collect(const RunDirectory& directory, const Order& order, std::int64_t part) {
  std::vector<RankResult> results;
  for (std::size_t number = 0; number < order.processes.size(); ++number) {
    if (order.processes[number].part != part) continue;
    auto result = directory.read_result(number);
    if (!result) {
      result.emplace();
      result->rank = order.processes[number].rank;
      result->outcome = {OutcomeKind::interrupted, "assay-rank ended without leaving a result", {}, {}, {}, {}};
    }
    results.push_back(std::move(*result));
  }
  return results;
}

/// Adds to a disturbed run who it was, as far as they are still at it: nothing of ours runs any more.
void name_neighbours(Validity& validity, const std::vector<RankResult>& ranks, const std::vector<RankResult>& partner) {
  for (auto& reason : validity.reasons) {
    if (reason.code != kNeighbours) continue;
    auto cpus = disturbed_cpus(ranks, partner);
    if (cpus.empty()) cpus = platform::allowed_cpus();
    for (const auto& one : platform::busiest_processes(cpus, kMostNamed, kLookNs)) {
      reason.message +=
          fmt::format("{}{} (process {}) {:.0f} % of a CPU",
                      reason.message.find("right after") == std::string::npos ? "; right after it: " : ", ",
                      printable(one.name, 32), one.pid, 100 * one.cpus);
    }
  }
}

Record make_record(const store::Lease& lease, std::size_t part, const std::vector<std::vector<RankResult>>& results) {
  const auto& ranks = results[part];
  const auto partner = results.size() > 1 ? results[1 - part] : std::vector<RankResult>{};
  const auto& run = lease.runs[part];
  Record record;
  record.campaign = lease.campaign;
  record.trial = run.trial_id;
  record.index = run.index;
  record.attempt = run.attempt;
  record.pair = run.pair;
  record.outcome = outcome_of(ranks);
  record.assay_version = ASSAY_VERSION;
  if (record.outcome.kind == OutcomeKind::ok) {
    record.summary = summarise(ranks, run.trial);
    record.validity = judge(ranks, partner);
    name_neighbours(record.validity, ranks, partner);
  }
  record.ranks = ranks;
  return record;
}

/// Partners stand or fall together: if one must be measured again, so must the other.
void decide_again(const store::Lease& lease, std::vector<store::Finished>& finished) {
  bool failed = false;
  bool interrupted = false;
  bool disturbed = false;
  for (const auto& one : finished) {
    const auto kind = one.record.outcome.kind;
    interrupted |= kind == OutcomeKind::interrupted;
    failed |= kind != OutcomeKind::ok && kind != OutcomeKind::interrupted;
    disturbed |= kind == OutcomeKind::ok && is_passing(one.record.validity);
  }
  const std::int64_t attempt = lease.runs.front().attempt;
  // Partners share every disturbance, and their ratio stands it: a pair is not measured again for it.
  const bool retry = disturbed && lease.runs.size() == 1 && attempt < lease.measure.retries;
  const bool again = !failed && (retry || (interrupted && attempt < kMostInterruptions));
  for (auto& one : finished) one.again = again;
}

}  // namespace

Order make_order(const store::Lease& lease, const plan::Catalog& catalog, const platform::Topology& topology,
                 const std::string& mark) {
  Order order;
  order.measure = lease.measure;
  order.lockstep = lease.runs.size() > 1;
  for (std::size_t part = 0; part < lease.runs.size(); ++part) {
    const auto& run = lease.runs[part];
    const auto* worker = catalog.find(run.trial.worker);
    if (worker == nullptr) {
      fail(ErrorKind::failure, "worker {} {} is not installed here; `assay worker list` shows what is",
           run.trial.worker.name, run.trial.worker.release);
    }
    auto source = plan::planned_source(*worker, run.trial.workload);
    order.parts.push_back({run.trial, plan::run_seed(lease.seed, run.trial_id, run.index), plan::worker_argv(*worker),
                           worker_environment(run.trial.settings, mark), worker->details, std::move(source.graph),
                           std::move(source.file)});
    const std::int64_t instances = run.trial.settings.instances.value_or(1);
    for (std::int64_t i = 0; i < processes_of(run.trial); ++i) {
      Process process;
      process.part = static_cast<std::int64_t>(part);
      process.instance = instances > 1 ? i : 0;
      process.rank = i;
      process.cpus = platform::cpus_of_instance(topology, run.trial.settings.affinity, i, processes_of(run.trial));
      order.processes.push_back(process);
    }
  }
  return order;
}

Outcome outcome_of(const std::vector<RankResult>& ranks) {
  const Outcome* interrupted = nullptr;
  for (const auto& rank : ranks) {
    if (rank.outcome.kind == OutcomeKind::interrupted) {
      if (interrupted == nullptr) interrupted = &rank.outcome;
    } else if (rank.outcome.kind != OutcomeKind::ok) {
      return rank.outcome;  // others of the run that ended because of it are interrupted
    }
  }
  return interrupted != nullptr ? *interrupted : Outcome{};
}

AgentEnd execute(const store::Lease& lease, const ExecutionContext& context, store::Store& store, int stop_fd) {
  context.observer.started(lease);
  const std::string started_utc = utc_now();
  const json state = to_json(platform::read_state(platform::allowed_cpus()));
  const std::int64_t begin = monotonic_ns();
  const std::string mark = fmt::format("{}-{}-{}", context.options.store_mark, lease.campaign, lease.runs.front().run);
  end_leftovers(lease, mark, context.options.run_root);

  std::vector<store::Finished> finished;
  {
    const RunDirectory directory(context.options.run_root, fmt::format("{}-{}", mark, lease.runs.front().epoch));
    const Order order = make_order(lease, context.catalog, context.machine.topology, mark);
    directory.write_order(order);
    const Sync sync(directory.path());  // made here, so that a full disk is found before anything starts
    const std::vector<int> inherit = context.lock_fd >= 0 ? std::vector<int>{context.lock_fd} : std::vector<int>{};
    Ranks ranks(context.launcher.start(directory.path(), order.processes.size(), inherit), lease, context, store);
    const RanksEnd end = ranks.wait(stop_fd);
    end_tree(0, 0);
    if (end == RanksEnd::stopped) {
      store.release(lease);
      return AgentEnd::stopped;
    }
    if (end == RanksEnd::lost) {
      context.observer.warning("the store gave this run to another agent; what was measured here is dropped");
      return AgentEnd::nothing_left;
    }
    if (ranks.disk_error() != 0) {
      // The disk's fault and not the worker's: trying again would only burn attempts.
      store.release(lease);
      file_failed(ranks.disk_error(), "keep the result of a run below", context.options.run_root.string());
    }
    std::vector<std::vector<RankResult>> results;
    for (std::size_t part = 0; part < lease.runs.size(); ++part) {
      results.push_back(collect(directory, order, static_cast<std::int64_t>(part)));
    }
    for (std::size_t part = 0; part < lease.runs.size(); ++part) {
      finished.push_back({make_record(lease, part, results), false});
    }
  }
  for (auto& one : finished) {
    one.record.platform = context.machine.id;
    one.record.state = state;
    one.record.started_utc = started_utc;
    one.record.duration_ns = monotonic_ns() - begin;
  }
  decide_again(lease, finished);
  if (store.complete(lease, finished) == store::Completion::stale) {
    context.observer.warning("the store gave this run to another agent; what was measured here is dropped");
    return AgentEnd::nothing_left;
  }
  context.observer.finished(lease, finished);
  return AgentEnd::nothing_left;
}

}  // namespace assay::measure
