#include "assay/vet/audit_rules.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "assay/stats/quantile.hpp"
#include "assay/vet/tensor.hpp"

namespace assay::vet {
namespace {

constexpr const char* kNoOutput = "the worker does not give the output of a step (step_output in worker.json)";
constexpr const char* kNoEvaluate = "the worker does not evaluate, or only once";

double sum_of(const std::vector<std::int64_t>& samples_ns) {
  return static_cast<double>(std::accumulate(samples_ns.begin(), samples_ns.end(), std::int64_t{0}));
}

/// The part of a command that is in no sample.
double outside_ns(const SeenSteps& steps) {
  return static_cast<double>(steps.wall_ns) - sum_of(steps.samples_ns);
}

double median_over(const SeenProcess& process, const std::function<double(const SeenTurn&)>& value) {
  std::vector<double> values;
  for (const auto& turn : process.turns) values.push_back(value(turn));
  return stats::median(std::move(values));
}

double least_over(const SeenProcess& process, const std::function<double(const SeenTurn&)>& value) {
  double least = value(process.turns.front());
  for (const auto& turn : process.turns) least = std::min(least, value(turn));
  return least;
}

/// CPU time of a step: what many take more than one, so that the price of a command is not in it.
double step_cpu_ns(const SeenTurn& turn) {
  const auto more = static_cast<double>(turn.many.samples_ns.size()) - 1;
  const auto cpu_ns = static_cast<double>(more > 0 ? turn.many.cpu_ns - turn.one.cpu_ns : turn.one.cpu_ns);
  return std::max(1.0, cpu_ns / std::max(1.0, more));
}

/// The least of all turns, here and below: whatever else runs on the machine only adds to it.
double least_step_cpu_ns(const SeenProcess& process) {
  return least_over(process, [](const SeenTurn& turn) { return step_cpu_ns(turn); });
}

bool evaluates(const AuditRound& seen) {
  return seen.whole.turns.front().evaluate_cpu_ns && seen.fewer_samples.turns.front().evaluate_cpu_ns;
}

/// CPU time that an evaluate takes besides its work, to write the answer: what it takes more than a step where there is
/// little work.
double besides_work_ns(const AuditRound& seen) {
  return std::max(0.0, median_over(seen.fewer_samples, [](const SeenTurn& turn) {
                    return static_cast<double>(*turn.evaluate_cpu_ns) - step_cpu_ns(turn);
                  }));
}

/// CPU time of the whole work, in an evaluate where the worker can: steps may have left something out.
double work_cpu_ns(const AuditRound& seen) {
  if (!evaluates(seen)) return least_step_cpu_ns(seen.whole);
  return least_over(seen.whole, [](const SeenTurn& turn) { return static_cast<double>(*turn.evaluate_cpu_ns); });
}

AuditCheck make(const char* name, const char* rule, std::string expected) {
  return {name, rule, Judgement::not_tried, std::move(expected), "", 0};
}

AuditCheck not_tried(AuditCheck check, const char* reason) {
  check.seen = reason;
  return check;
}

AuditCheck judged(AuditCheck check, bool holds, std::string seen) {
  check.judgement = holds ? Judgement::ok : Judgement::alarm;
  check.seen = std::move(seen);
  return check;
}

AuditCheck check_output(const AuditRound& seen, const AuditLimits& limits) {
  auto check = make("output", "A timed step computes what evaluate computes.",
                    fmt::format("at most {:.0e} away", limits.output));
  double worst = 0;
  for (const auto* process : {&seen.whole, &seen.fewer_samples, &seen.fewer_layers}) {
    if (process->turns.front().one_with_output && !process->output_error) return not_tried(check, kNoEvaluate);
    if (!process->output_error) return not_tried(check, kNoOutput);
    // What is not a number compares with nothing, and stays.
    if (!std::isnan(worst) && !(*process->output_error <= worst)) worst = *process->output_error;
  }
  return judged(check, worst <= limits.output, fmt::format("{:.1e} away", worst));
}

AuditCheck check_other_values(const AuditRound& seen, const AuditLimits& limits) {
  auto check = make("other_values", "Other weights and inputs give another output.",
                    fmt::format("more than {:.0e} away", limits.other_output));
  if (seen.whole.output.empty() || seen.fewer_samples.output.size() > seen.whole.output.size()) {
    return not_tried(check, kNoEvaluate);
  }
  const auto& some = seen.fewer_samples.output;
  const std::vector<float> others(seen.whole.output.begin(),
                                  seen.whole.output.begin() + static_cast<std::ptrdiff_t>(some.size()));
  const double difference = relative_error(some, others);
  return judged(check, difference > limits.other_output, fmt::format("{:.1e} away", difference));
}

AuditCheck check_late_output(const AuditRound& seen, const AuditLimits& limits) {
  auto check = make("late_output", "The output is that of a timed step; nothing is computed for it alone.",
                    fmt::format("less than {:.0f} % of a step", 100 * limits.late));
  if (!seen.whole.turns.front().one_with_output) return not_tried(check, kNoOutput);
  // The least, because every command would have to compute it.
  const double late_ns = least_over(seen.whole, [](const SeenTurn& turn) {
    return static_cast<double>(turn.one_with_output->cpu_ns - turn.one.cpu_ns);
  });
  const double share = std::max(0.0, late_ns / work_cpu_ns(seen));
  return judged(check, share < limits.late, fmt::format("{:.0f} %", 100 * share));
}

AuditCheck check_clock(const AuditRound& seen, const AuditLimits& limits) {
  auto check = make("clock", "Samples add up to the time that passed.",
                    fmt::format("{:.0f} to 100 % of it", 100 * limits.clock));
  // The time that a command takes besides its steps, and the turn in which the least else came in between.
  const double command_ns = least_over(seen.whole, [](const SeenTurn& turn) { return outside_ns(turn.one); });
  const double missing = least_over(seen.whole, [&](const SeenTurn& turn) {
    return (outside_ns(turn.many) - std::max(0.0, command_ns)) / static_cast<double>(turn.many.wall_ns);
  });
  const double share = 1 - std::max(0.0, missing);
  const double most = median_over(seen.whole, [](const SeenTurn& turn) {
    return sum_of(turn.many.samples_ns) / static_cast<double>(turn.many.wall_ns);
  });
  return judged(check, share >= limits.clock && most <= 1, fmt::format("{:.1f} %", 100 * (most > 1 ? most : share)));
}

AuditCheck check_pause(const AuditRound& seen, const AuditLimits& limits) {
  auto check = make("pause", "A pause put upon the worker among its steps is in one of its samples.",
                    fmt::format("a sample of at least {:.0f} ms", 1e-6 * limits.pause * kPauseNs));
  if (!seen.whole.longest_ns) return not_tried(check, "its steps were over before they could be stopped");
  const auto longest_ns = static_cast<double>(*seen.whole.longest_ns);
  return judged(check, longest_ns >= limits.pause * kPauseNs, fmt::format("the longest {:.1f} ms", 1e-6 * longest_ns));
}

AuditCheck check_repeats(const AuditRound& seen, const AuditLimits& limits) {
  auto check = make("repeats", "Every sample is measured: no two in a row are the same to the nanosecond.",
                    fmt::format("at most {:.0f} % of them", 100 * limits.repeats));
  double repeats = 0;
  double pairs = 0;
  for (const auto& turn : seen.whole.turns) {
    const auto& ns = turn.many.samples_ns;
    for (std::size_t i = 1; i < ns.size(); ++i) repeats += ns[i] == ns[i - 1] ? 1 : 0;
    pairs += static_cast<double>(ns.size()) - 1;
  }
  if (pairs == 0) return not_tried(check, "its steps are too long to take several");
  return judged(check, repeats <= std::max(1.0, limits.repeats * pairs), fmt::format("{} of {}", repeats, pairs));
}

AuditCheck check_busy(const AuditRound& seen, const AuditLimits& limits) {
  auto check = make("busy", "While steps are timed the worker computes and does not sleep.",
                    fmt::format("at least {:.0f} % of the time", 100 * limits.busy));
  const double share = median_over(seen.whole, [](const SeenTurn& turn) {
    return static_cast<double>(turn.many.busy_ns) / static_cast<double>(turn.many.wall_ns);
  });
  return judged(check, share >= limits.busy, fmt::format("{:.0f} %", 100 * share));
}

AuditCheck check_idle(const AuditRound& seen, const AuditLimits& limits) {
  auto check = make("idle", "When samples are reported their work is done: nothing goes on computing.",
                    fmt::format("less than {:.0f} % of the time", 100 * limits.idle));
  const double share = static_cast<double>(seen.whole.idle_cpu_ns) / static_cast<double>(kIdleNs);
  return judged(check, share < limits.idle, fmt::format("{:.0f} %", 100 * share));
}

AuditCheck check_growth(const char* name, const char* rule, const AuditRound& seen, const SeenProcess& fewer,
                        const AuditLimits& limits) {
  auto check = make(name, rule, fmt::format("{:g} to {:g} times", limits.least_growth, limits.most_growth));
  const double growth = least_step_cpu_ns(seen.whole) / least_step_cpu_ns(fewer);
  return judged(check, growth >= limits.least_growth && growth <= limits.most_growth,
                fmt::format("{:.1f} times", growth));
}

AuditCheck check_cost(const AuditRound& seen, const AuditLimits& limits) {
  auto check = make("cost", "A timed step uses as much CPU time as the same work untimed: nothing is skipped or kept.",
                    fmt::format("at least {:.0f} % of it", 100 * limits.cost));
  if (!evaluates(seen)) return not_tried(check, kNoEvaluate);
  // Within a turn, because the machine itself changes its speed.
  const double besides_ns = besides_work_ns(seen);
  const double share = median_over(seen.whole, [&](const SeenTurn& turn) {
    return step_cpu_ns(turn) / std::max(1.0, static_cast<double>(*turn.evaluate_cpu_ns) - besides_ns);
  });
  return judged(check, share >= limits.cost, fmt::format("{:.0f} %", 100 * share));
}

}  // namespace

std::vector<AuditCheck> judge(const AuditRound& seen, const AuditLimits& limits) {
  return {check_output(seen, limits),
          check_other_values(seen, limits),
          check_late_output(seen, limits),
          check_cost(seen, limits),
          check_growth("batch", "CPU time grows with work: a step on 4 times the samples uses more.", seen,
                       seen.fewer_samples, limits),
          check_growth("layers", "CPU time grows with work: a step through 4 times the layers uses more.", seen,
                       seen.fewer_layers, limits),
          check_clock(seen, limits),
          check_pause(seen, limits),
          check_repeats(seen, limits),
          check_busy(seen, limits),
          check_idle(seen, limits)};
}

}  // namespace assay::vet
