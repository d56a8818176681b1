#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/core/workloads/tail_limit.hpp"
#include "assay/stats/tail.hpp"

namespace assay::tune {

enum class GoalMetric { latency, throughput, tokens, rate };

/// What the steps of a run, or of several, say about a limit.
struct Tail {
  std::int64_t samples = 0;
  std::int64_t over = 0;  ///< of those: took longer than the limit
  double seconds = 0;     ///< the quantile that the limit is on, of one run: it leads the search and is not printed
};

/// What is sought: the shortest step, or the most samples or generated tokens a second, within a bound on the tail
/// where there is one; or the highest rate of queries whose latencies keep a bound.
struct Goal {
  GoalMetric metric = GoalMetric::latency;
  std::optional<TailLimit> limit;
  TimeOf limit_of = TimeOf::step;  ///< or first_token: until every sequence of an answer has its first token

  /// Whether only text that is generated has it.
  bool of_generation() const { return metric == GoalMetric::tokens || limit_of == TimeOf::first_token; }

  /// Whether the tail of a run decides whether it may be chosen. A rate is found within its limit.
  bool judges_tail() const { return limit && metric != GoalMetric::rate; }
};

/// "latency", "throughput", "throughput@p99<50ms", "tokens@ttft<500ms" (in the median), "rate@p99<50ms". Throws
/// Error{usage} that says what there is.
Goal parse_goal(const std::string& text);
std::string title(const Goal& goal);

/// What a run costs, in seconds: of a step, or of a sample or token through all instances together. A run beyond the
/// limit costs as much more as would take it there with a strong slope, so that the search is led back. Null where it
/// has no result. `tail` is read where the goal has a limit.
std::optional<double> cost_of(const Goal& goal, const Summary& summary, const Tail& tail = {});

/// The part of that for exceeding the limit; 1 where it is kept.
double penalty_of(const Goal& goal, const Tail& tail);

/// Of the sorted times of steps, in nanoseconds.
Tail tail_of(const TailLimit& limit, const std::vector<double>& sorted_ns);

/// Whether no more steps than allowed took longer: of these, not as a proof.
bool within_limit(const TailLimit& limit, const Tail& tail);

/// What the binomial bound says of all steps there will be.
stats::Kept judge(const TailLimit& limit, const Tail& tail);

}  // namespace assay::tune

namespace assay {

template <>
struct EnumNames<stats::Kept> {
  static constexpr std::array<const char*, 3> names{"proved", "undecided", "broken"};
};

template <>
struct EnumNames<tune::GoalMetric> {
  static constexpr std::array<const char*, 4> names{"latency", "throughput", "tokens", "rate"};
};

}  // namespace assay
