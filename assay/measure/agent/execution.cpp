#include "assay/measure/agent/execution.hpp"

#include <algorithm>
#include <csignal>

#include "assay/core/clock.hpp"
#include "assay/core/text/utf8.hpp"
#include "assay/core/version.hpp"
#include "assay/measure/agent/await.hpp"
#include "assay/measure/agent/group.hpp"
#include "assay/measure/agent/memory.hpp"
#include "assay/measure/agent/orphans.hpp"
#include "assay/measure/agent/summary.hpp"
#include "assay/measure/agent/validity.hpp"
#include "assay/measure/environment.hpp"
#include "assay/measure/rank/gang.hpp"
#include "assay/measure/rank/rank.hpp"
#include "assay/measure/rank/sync.hpp"
#include "assay/measure/run_directory.hpp"
#include "assay/platform/cpus.hpp"
#include "assay/platform/machine/state.hpp"
#include "assay/platform/process.hpp"
#include "assay/process/spawn.hpp"
#include "assay/store/records/digest.hpp"

namespace assay::measure {
namespace {

constexpr std::int64_t kMostInterruptions = 5;
constexpr std::size_t kMostNamed = 3;
constexpr std::int64_t kLookNs = 100'000'000;    // as long as a look at who disturbs takes
constexpr std::int64_t kStopNs = 2'000'000'000;  // in which the signal that ended a worker reaches the agent too

/// Ends what an earlier, lost attempt at the same runs may have left on this host.
void end_leftovers(const store::Lease& lease, const std::string& mark, const ExecutionContext& context) {
  if (lease.runs.front().epoch <= 1) return;
  for (const auto& one : end_run(mark)) context.observer.warning(orphan_message(one));
  std::error_code error;
  for (std::filesystem::directory_iterator it(context.options.run_root, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    if (it->path().filename().string().starts_with(mark + "-")) std::filesystem::remove_all(it->path(), ignored);
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
      if (order.meeting) {
        result->outcome.stderr_tail = directory.launcher_log();
        if (!std::filesystem::exists(directory.path() / kMeetingFile)) {
          result->outcome.message = "the ranks were not started: is one of the hosts not there?";
        }
      }
    }
    results.push_back(std::move(*result));
  }
  return results;
}

/// A group that does not fit in memory is given back, and nothing of it is started.
void check_memory(const Order& order, const store::Lease& lease, const ExecutionContext& context,
                  store::RunQueue& store) {
  try {
    check_fits(memory_needs(order, lease, context.peaks),
               context.options.memory_bytes ? *context.options.memory_bytes : available_memory_bytes());
  } catch (const Error&) {
    if (!context.options.of_fleet) store.release(lease);  // else it is a result that says so
    throw;
  }
}

/// What later groups of the same trials are checked by.
void note_peak(const store::Finished& finished, KnownMemory& peaks) {
  const auto peak = store::digest_of(finished.record).peak_memory_bytes;
  if (peak) peaks[finished.record.trial] = std::max(peaks[finished.record.trial], *peak);
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
  std::vector<RankResult> partners;
  for (std::size_t other = 0; other < results.size(); ++other) {
    if (other != part) partners.insert(partners.end(), results[other].begin(), results[other].end());
  }
  const auto& run = lease.runs[part];
  Record record;
  record.campaign = lease.campaign;
  record.trial = run.trial_id;
  record.index = run.index;
  record.attempt = run.attempt;
  record.pair = run.pair;
  record.outcome = outcome_of(ranks);
  record.assay_version = kVersion;
  if (record.outcome.kind == OutcomeKind::ok) {
    auto summarised = summarise(ranks, run.trial);
    record.summary = summarised.summary;
    record.steady = summarised.steady;
    if (part > 0) record.pair_log_ratio = log_ratio(results, part);
    record.validity = judge(ranks, partners);
    name_neighbours(record.validity, ranks, partners);
  }
  record.ranks = ranks;
  return record;
}

/// Whether the store gave the runs to another agent. A store that does not answer says no such thing.
bool is_lost(const store::Lease& lease, const ExecutionContext& context, store::RunQueue& store) {
  try {
    return store.renew(lease, context.options.lease_seconds) == store::Renewal::lost;
  } catch (const Error&) {
    return false;
  }
}

/// Stores what was measured and tells the observer what became of it.
void complete(const store::Lease& lease, const std::vector<store::Finished>& finished, const ExecutionContext& context,
              store::RunQueue& store) {
  switch (store.complete(lease, finished)) {
    case store::Completion::stale:
      return context.observer.warning("the store gave this run to another agent; what was measured here is dropped");
    case store::Completion::kept:
      context.observer.warning("the store cannot be used now; the finished run is kept in the spool until it can");
      break;
    case store::Completion::accepted:
    case store::Completion::repeated:
      break;
  }
  context.observer.finished(lease, finished);
}

/// Partners stand or fall together: if one must be measured again, so must the others.
void decide_again(const store::Lease& lease, bool measure_again, std::vector<store::Finished>& finished) {
  bool failed = false;
  bool interrupted = false;
  bool disturbed = false;
  for (const auto& one : finished) {
    const auto kind = one.record.outcome.kind;
    interrupted |= kind == OutcomeKind::interrupted;
    failed |= kind != OutcomeKind::ok && kind != OutcomeKind::interrupted;
    // Partners share a disturbance, and their ratios stand it, up to a point.
    disturbed |=
        kind == OutcomeKind::ok &&
        (lease.runs.size() == 1 ? is_passing(one.record.validity) : is_starved(one.record.validity, one.record.ranks));
  }
  const std::int64_t attempt = lease.runs.front().attempt;
  const bool retry = measure_again && disturbed && attempt < lease.measure.retries;
  const bool again = !failed && (retry || (interrupted && attempt < kMostInterruptions));
  for (auto& one : finished) one.again = again;
}

/// Whether the runs ended because this agent is being ended. A scheduler that cancels a job sends its signal to every
/// process of it, and a worker may be gone before the agent hears of it: then it did not fail.
bool ended_with_agent(const std::vector<std::vector<RankResult>>& results, process::Waiting& waiting, int stop_fd) {
  const auto was_told = [](const RankResult& rank) {
    return rank.outcome.kind == OutcomeKind::interrupted || rank.outcome.signal == std::int64_t{SIGTERM};
  };
  for (const auto& ranks : results) {
    if (std::none_of(ranks.begin(), ranks.end(), was_told)) continue;
    std::vector<pollfd> fds{{stop_fd, POLLIN, 0}};
    return waiting.poll(fds, kStopNs) > 0;
  }
  return false;
}

}  // namespace

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

AgentEnd execute(const store::Lease& lease, const ExecutionContext& context, store::RunQueue& store, int stop_fd) {
  context.observer.started(lease);
  const std::string started_utc = utc_now();
  const json state = to_json(platform::read_state(platform::allowed_cpus()));
  const std::int64_t begin = context.waiting.now_ns();
  const std::string mark = fmt::format("{}-{}-{}", context.options.store_mark, lease.campaign, lease.runs.front().run);
  end_leftovers(lease, mark, context);

  std::vector<store::Finished> finished;
  {
    const RunDirectory directory(context.options.run_root, fmt::format("{}-{}", mark, lease.claim.substr(0, 16)));
    const Order order = make_order(lease, context, mark);
    if (order.lockstep) check_memory(order, lease, context, store);
    directory.write_order(order);
    const Sync sync(directory.path());  // made here, so that a full disk is found before anything starts
    const std::vector<int> inherit = context.lock_fd >= 0 ? std::vector<int>{context.lock_fd} : std::vector<int>{};
    Ranks ranks(context.launcher.start(directory.path(), order, inherit),
                {directory, order, lease, context, store, sync});
    const RanksEnd end = ranks.wait(stop_fd);
    process::end_tree(0, 0);
    if (end == RanksEnd::stopped) {
      store.release(lease);
      return AgentEnd::stopped;
    }
    // On the same host the new owner of a run removes what the old one has left, also its directory.
    if (end == RanksEnd::lost || (ranks.disk_error() != 0 && is_lost(lease, context, store))) {
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
    if (ended_with_agent(results, context.waiting, stop_fd)) {
      store.release(lease);
      return AgentEnd::stopped;
    }
    for (std::size_t part = 0; part < lease.runs.size(); ++part) {
      finished.push_back({make_record(lease, part, results), false});
    }
  }
  for (auto& one : finished) {
    one.record.platform = context.machine.id;
    one.record.state = state;
    one.record.started_utc = started_utc;
    one.record.duration_ns = context.waiting.now_ns() - begin;
    note_peak(one, context.peaks);
  }
  decide_again(lease, context.options.measure_again, finished);
  complete(lease, finished, context, store);
  return AgentEnd::nothing_left;
}

void complete_not_started(const store::Lease& lease, const ExecutionContext& context, store::RunQueue& store,
                          const std::string& message) {
  std::vector<store::Finished> finished;
  for (const auto& run : lease.runs) {
    Record record;
    record.campaign = lease.campaign;
    record.trial = run.trial_id;
    record.index = run.index;
    record.attempt = run.attempt;
    record.outcome = {OutcomeKind::not_started, message, "start", {}, {}, {}};
    record.assay_version = kVersion;
    record.platform = context.machine.id;
    record.state = json::object();
    record.started_utc = utc_now();
    finished.push_back({record, false});
  }
  complete(lease, finished, context, store);
}

}  // namespace assay::measure
