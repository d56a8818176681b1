#include "assay/load/queries/queries.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "assay/core/text/units.hpp"
#include "assay/load/queries/ledger.hpp"
#include "assay/stats/binomial.hpp"
#include "assay/stats/tail.hpp"

namespace assay::load {
namespace {

constexpr double kNoLatenessBudget = 0;  // the queue hands over to the worker itself

Ledger ledger_of(const Arrivals& arrivals) {
  Ledger::Rules rules;
  rules.connections = SIZE_MAX;
  if (arrivals.kind != ArrivalKind::closed) return {draw_schedule(arrivals), rules};
  rules.clients = static_cast<std::size_t>(arrivals.clients.value_or(1));
  rules.closed_end_ns = std::llround(arrivals.duration_seconds * 1e9);
  return {draw_schedule(arrivals), rules};
}

/// The queue before a worker.
class QueryQueue {
 public:
  QueryQueue(const Scenario& scenario, std::int64_t batch, const Arrivals& arrivals, StepServer& server)
      : ledger_(ledger_of(arrivals)),
        server_(server),
        full_(static_cast<std::size_t>(std::max<std::int64_t>(1, batch / samples_of_query(scenario.kind)))),
        wait_ns_(std::llround(scenario.batch_wait_seconds.value_or(0) * 1e9)),
        steps_((samples_of_query(scenario.kind) + batch - 1) / batch) {}

  Sent run() {
    while (!ledger_.complete()) {
      const auto now = server_.now_ns();
      ledger_.notice(now);
      while (const auto index = ledger_.take()) waiting_.push_back(*index);
      const auto pause_until = next_event(now);
      pause_until ? server_.wait_until(*pause_until) : serve();
    }
    Sent sent;
    sent.elapsed_ns = server_.now_ns();
    ledger_.close(sent.elapsed_ns);
    sent.requests = ledger_.requests();
    sent.most_under_way = static_cast<std::int64_t>(ledger_.most_under_way());
    return sent;
  }

 private:
  /// When the next query comes or the oldest has waited long enough; nothing where a batch is to begin now.
  std::optional<std::int64_t> next_event(std::int64_t now_ns) const {
    const auto due = ledger_.next_due();
    if (waiting_.empty()) return due;
    if (waiting_.size() >= full_) return std::nullopt;
    const auto begin = ledger_.arrival(waiting_.front()).due_ns + wait_ns_;
    if (wait_ns_ == 0 || begin <= now_ns) return std::nullopt;
    return std::min(begin, due.value_or(begin));
  }

  void serve() {
    const auto count = std::min(full_, waiting_.size());
    auto step = server_.step();
    const auto begin_ns = step.begin_ns;
    for (std::int64_t more = 1; more < steps_; ++more) step = server_.step();
    // Those that came meanwhile are in the queue since they were due: nobody was kept waiting by this process.
    for (auto due = ledger_.next_due(); due && *due <= step.end_ns; due = ledger_.next_due()) ledger_.notice(*due);
    const auto now = server_.now_ns();
    for (std::size_t i = 0; i < count; ++i) {
      const auto index = waiting_.front();
      waiting_.pop_front();
      ledger_.finish(index, RequestOutcome::ok, now);  // the next of a stream is asked once this process is free
      ledger_.at(index).sent_ns = begin_ns;
      ledger_.at(index).finished_ns = step.end_ns;
    }
  }

  Ledger ledger_;
  StepServer& server_;
  const std::size_t full_;  ///< queries that fill a step
  const std::int64_t wait_ns_;
  const std::int64_t steps_;  ///< of one query
  std::deque<std::size_t> waiting_;
};

/// MLPerf's: t values may be above a limit that n of them show to hold, and what is t-th from the top is the bound. It
/// is one further out than an order statistic needs to be.
std::optional<double> early_stopping_bound(const std::vector<double>& sorted, double quantile) {
  const auto n = sorted.size();
  std::size_t over = 0;
  const auto shows = [&](std::size_t t) {
    return stats::binomial_at_most(static_cast<double>(n), static_cast<double>(t), 1 - quantile) <=
           1 - stats::kTailConfidence;
  };
  while (over < n && shows(over + 1)) ++over;
  return over > 0 ? std::optional(sorted[n - over]) : std::nullopt;
}

/// The quantile of latencies, in a point that may be const; null where it has too few queries.
template <typename Point>
auto judged(Point& point, double quantile) -> decltype(&point.times.front().from_schedule.front()) {
  for (auto& times : point.times) {
    if (times.metric != Metric::latency) continue;
    for (auto& one : times.from_schedule) {
      if (one.quantile == quantile) return &one;
    }
  }
  return nullptr;
}

/// "holds: 3 took longer".
std::string judgement(const JudgedLimit& limit) {
  const auto over = fmt::format("{} took longer", limit.over);
  const auto allowed = std::floor(static_cast<double>(limit.requests) * (1 - limit.quantile) + 1e-9);
  switch (limit.verdict) {
    case LimitVerdict::holds:
      return "holds: " + over;
    case LimitVerdict::broken:
      return fmt::format("is broken: {}, and at most {:.0f} may", over, allowed);
    case LimitVerdict::undecided:
      return fmt::format("is undecided: {}, and {:.0f} may; measure for longer with --seconds", over, allowed);
    default:
      return fmt::format("is undecided: it needs {} queries; measure for longer with --seconds", limit.needed);
  }
}

}  // namespace

Arrivals arrivals_of(const Scenario& scenario, const QueryCount& count, std::int64_t seed) {
  Arrivals arrivals;
  arrivals.seed = seed;
  if (one_after_another(scenario.kind)) {
    arrivals.kind = ArrivalKind::closed;
    arrivals.clients = 1;
    arrivals.duration_seconds = count.seconds;
    arrivals.requests = std::max<std::int64_t>(1, count.most);
  } else if (scenario.kind == ScenarioKind::server) {
    arrivals.kind = ArrivalKind::poisson;
    arrivals.rate_per_second = *scenario.rate_per_second;
    const auto expected = std::llround(std::min(arrivals.rate_per_second * count.seconds, 1e15));
    arrivals.requests = std::clamp<std::int64_t>(expected, 1, std::max<std::int64_t>(1, count.most));
  } else {
    arrivals.kind = ArrivalKind::bursts;
    arrivals.rate_per_second = 1e9;  // the first burst is due at once
    arrivals.burst = std::max<std::int64_t>(1, count.all_at_once);
    arrivals.requests = arrivals.burst;
  }
  return arrivals;
}

Sent serve_queries(const Scenario& scenario, std::int64_t batch, const Arrivals& arrivals, StepServer& server) {
  return QueryQueue(scenario, batch, arrivals, server).run();
}

std::optional<double> judged_quantile(const Scenario& scenario) {
  if (scenario.limit) return static_cast<double>(scenario.limit->percent) / 100;
  if (scenario.kind == ScenarioKind::offline) return std::nullopt;
  return scenario.kind == ScenarioKind::single_stream ? 0.9 : 0.99;
}

std::vector<Limit> limits_of(const Scenario& scenario) {
  if (!scenario.limit) return {};
  return {{Metric::latency, static_cast<double>(scenario.limit->percent) / 100, scenario.limit->seconds * 1e9}};
}

LoadPoint summarise_queries(const Scenario& scenario, const Arrivals& arrivals, const Sent& sent) {
  auto point = summarise(arrivals, sent, limits_of(scenario), kNoLatenessBudget);
  const auto quantile = judged_quantile(scenario);
  auto* const time = quantile && one_after_another(scenario.kind) ? judged(point, *quantile) : nullptr;
  if (time == nullptr) return point;
  auto times = times_with_failures(counted(sent.requests), Metric::latency, Since::schedule);
  std::sort(times.begin(), times.end());
  time->early_stopping_ns = early_stopping_bound(times, *quantile);
  return point;
}

std::string verdict_line(const Scenario& scenario, const LoadPoint& point) {
  const auto quantile = judged_quantile(scenario);
  const std::string name = name_of(scenario.kind);
  if (!quantile) return fmt::format("{}: {} queries at once", name, point.requests);
  const auto* const time = judged(point, *quantile);
  if (time == nullptr || !time->ns) {
    return fmt::format("{}: {} queries, and its p{:g} needs {}; measure for longer with --seconds", name,
                       point.requests, 100 * *quantile, stats::least_for_quantile(*quantile, stats::kTailConfidence));
  }
  auto line =
      fmt::format("{}: p{:g} {} of {} queries", name, 100 * *quantile, format_duration(*time->ns), point.requests);
  if (time->early_stopping_ns) line += ", at most " + format_duration(*time->early_stopping_ns) + " by early stopping";
  if (scenario.limit && !point.limits.empty()) {
    line += fmt::format("; {} {}", title(*scenario.limit), judgement(point.limits.front()));
  }
  return line;
}

}  // namespace assay::load
