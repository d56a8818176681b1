#include "assay/tune/goal.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/error.hpp"
#include "assay/core/text/units.hpp"

namespace assay::tune {
namespace {

// Twice over the limit counts as 16 times as slow: whatever keeps the limit comes first, and the nearest of those that
// do not.
constexpr double kSlope = 4;

[[noreturn]] void bad_goal(const std::string& text) {
  fail(ErrorKind::usage,
       "--goal: {} is not a valid goal. Write latency, throughput, or either with a limit: throughput@p99<50ms.",
       shown(text));
}

TailLimit parse_limit(const std::string& whole, const std::string& text) {
  const auto less = text.find('<');
  if (less == std::string::npos) bad_goal(whole);
  const auto quantile = text.substr(0, less);
  TailLimit limit;
  if (quantile == "p50") {
    limit.percent = 50;
  } else if (quantile == "p90") {
    limit.percent = 90;
  } else if (quantile == "p99") {
    limit.percent = 99;
  } else {
    fail(ErrorKind::usage, "--goal: {} is not a quantile that runs keep. Write p50, p90 or p99.", shown(quantile));
  }
  limit.seconds = parse_seconds(text.substr(less + 1), "--goal");
  if (!(limit.seconds > 0)) bad_goal(whole);
  return limit;
}

std::optional<double> tail_seconds(const TailLimit& limit, const Summary& summary) {
  const auto ns = limit.percent == 50 ? summary.median_ns : limit.percent == 90 ? summary.p90_ns : summary.p99_ns;
  if (!ns) return {};
  return static_cast<double>(*ns) / 1e9;
}

}  // namespace

Goal parse_goal(const std::string& text) {
  Goal goal;
  const auto at = text.find('@');
  const auto metric = text.substr(0, at);
  if (metric == "throughput") {
    goal.metric = Metric::throughput;
  } else if (metric != "latency") {
    bad_goal(text);
  }
  if (at != std::string::npos) goal.limit = parse_limit(text, text.substr(at + 1));
  return goal;
}

std::string title(const Goal& goal) {
  if (!goal.limit) return name_of(goal.metric);
  return fmt::format("{}@p{}<{:g}ms", name_of(goal.metric), goal.limit->percent, goal.limit->seconds * 1e3);
}

double penalty_of(const Goal& goal, const Summary& summary) {
  if (!goal.limit) return 1;
  const auto tail = tail_seconds(*goal.limit, summary);
  return tail ? std::pow(std::max(1.0, *tail / goal.limit->seconds), kSlope) : 1;
}

bool within_limit(const Goal& goal, const Summary& summary) {
  return penalty_of(goal, summary) <= 1;
}

std::optional<double> cost_of(const Goal& goal, const Summary& summary) {
  std::optional<double> seconds;
  if (goal.metric == Metric::latency) {
    if (summary.median_ns) seconds = static_cast<double>(*summary.median_ns) / 1e9;
  } else if (summary.samples_per_second && *summary.samples_per_second > 0) {
    seconds = 1 / *summary.samples_per_second;
  }
  if (!seconds || !(*seconds > 0)) return {};
  return *seconds * penalty_of(goal, summary);
}

}  // namespace assay::tune
