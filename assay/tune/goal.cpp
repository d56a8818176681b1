#include "assay/tune/goal.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/error.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::tune {
namespace {

// Twice over the limit counts as 16 times as slow: whatever keeps the limit comes first, and the nearest of those that
// do not.
constexpr double kSlope = 4;

// A limit on the first token is one on its median, in the place of a quantile.
const std::string kFirstToken = "ttft<";

[[noreturn]] void bad_goal(const std::string& text) {
  fail(ErrorKind::usage,
       "--goal: {} is not a valid goal. Write latency, throughput, tokens, one of them with a limit such as "
       "throughput@p99<50ms or tokens@ttft<500ms, or rate@p99<50ms.",
       shown(text));
}

}  // namespace

Goal parse_goal(const std::string& text) {
  Goal goal;
  const auto at = text.find('@');
  const auto metric = text.substr(0, at);
  const auto& names = EnumNames<GoalMetric>::names;
  const auto* const known = std::find(names.begin(), names.end(), metric);
  if (known == names.end()) bad_goal(text);
  goal.metric = static_cast<GoalMetric>(known - names.begin());
  if (at != std::string::npos) {
    auto limit = text.substr(at + 1);
    if (limit.starts_with(kFirstToken)) {
      goal.limit_of = TimeOf::first_token;
      limit = "p50<" + limit.substr(kFirstToken.size());
    }
    goal.limit = parse_tail_limit(limit, "--goal");
  }
  if (goal.metric == GoalMetric::rate && (!goal.limit || goal.limit_of == TimeOf::first_token)) {
    fail(ErrorKind::usage, "--goal: a rate needs the limit that it is to keep. Write it such as rate@p99<50ms.");
  }
  return goal;
}

std::string title(const Goal& goal) {
  if (!goal.limit) return name_of(goal.metric);
  if (goal.limit_of == TimeOf::first_token)
    return fmt::format("{}@{}{:g}ms", name_of(goal.metric), kFirstToken, goal.limit->seconds * 1e3);
  return fmt::format("{}@{}", name_of(goal.metric), title(*goal.limit));
}

double penalty_of(const Goal& goal, const Tail& tail) {
  return goal.judges_tail() ? std::pow(std::max(1.0, tail.seconds / goal.limit->seconds), kSlope) : 1;
}

Tail tail_of(const TailLimit& limit, const std::vector<double>& sorted_ns) {
  if (sorted_ns.empty()) return {};
  const auto over = sorted_ns.end() - std::upper_bound(sorted_ns.begin(), sorted_ns.end(), limit.seconds * 1e9);
  return {std::ssize(sorted_ns), over,
          stats::quantile_sorted(sorted_ns, static_cast<double>(limit.percent) / 100) / 1e9};
}

bool within_limit(const TailLimit& limit, const Tail& tail) {
  return 100 * tail.over <= (100 - limit.percent) * tail.samples;
}

stats::Kept judge(const TailLimit& limit, const Tail& tail) {
  return stats::judge_tail(static_cast<std::size_t>(tail.samples), static_cast<std::size_t>(tail.over),
                           limit.allowed());
}

std::optional<double> cost_of(const Goal& goal, const Summary& summary, const Tail& tail) {
  std::optional<double> seconds;
  if (goal.metric == GoalMetric::latency) {
    if (summary.median_ns) seconds = static_cast<double>(*summary.median_ns) / 1e9;
  } else if (goal.metric == GoalMetric::tokens) {
    if (summary.generated && summary.generated->output_tokens_per_second > 0)
      seconds = 1 / summary.generated->output_tokens_per_second;
  } else if (summary.samples_per_second && *summary.samples_per_second > 0) {
    seconds = 1 / *summary.samples_per_second;
  }
  if (!seconds || !(*seconds > 0)) return {};
  return *seconds * penalty_of(goal, tail);
}

}  // namespace assay::tune
