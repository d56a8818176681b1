#include "assay/vet/audit_observation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/vet/audited_process.hpp"

namespace assay::vet {
namespace {

constexpr std::int64_t kFirstBatch = 64;
constexpr std::int64_t kMostBatch = 2048;
// Long enough that the price of a command is little beside it, short enough that an audit takes seconds.
constexpr double kStepSeconds = 0.02;
constexpr double kManySeconds = 0.3;
constexpr double kLeastSteps = 4;
constexpr double kWarmSeconds = 0.1;
constexpr int kTurns = 3;
constexpr int kEvaluates = 4;
// The pause must lie among the steps: behind what a worker does before the first, seen in commands of one step.
constexpr std::int64_t kBeforePauseNs = 50'000'000;
constexpr double kAroundPauseSeconds = 0.3;

double output_error(const Tensor& got, const Tensor& wanted) {
  if (got.shape != wanted.shape) return std::numeric_limits<double>::infinity();
  return relative_error(got.values, wanted.values);
}

SeenTurn take_turn(AuditedProcess& process, double many_seconds, bool writes_output, bool evaluates) {
  SeenTurn turn;
  turn.one = process.measure(many_seconds, 1);
  if (writes_output) turn.one_with_output = process.measure_with_output(1);
  turn.many = process.measure(many_seconds, std::numeric_limits<std::int64_t>::max());
  if (evaluates) {
    turn.evaluate_cpu_ns = 0;
    for (int i = 0; i < kEvaluates; ++i) *turn.evaluate_cpu_ns += process.evaluate() / kEvaluates;
  }
  return turn;
}

}  // namespace

struct Observer::Size {
  std::int64_t batch = 0;
  std::int64_t layers = 0;
  double many_seconds = 0;
};

Observer::Observer(const AuditRequest& request) : request_(request) {
  AuditedProcess process(request_, kFirstBatch, kLayers, request_.seed);
  process.measure(kWarmSeconds, 3);
  const auto one = process.measure(kWarmSeconds, 1);
  const auto five = process.measure(kWarmSeconds, 5);
  const auto more = static_cast<double>(five.samples_ns.size()) - 1;
  const double step_seconds =
      1e-9 * static_cast<double>(more > 0 ? five.cpu_ns - one.cpu_ns : one.cpu_ns) / std::max(1.0, more);
  const double wanted = kFirstBatch * kStepSeconds / std::max(step_seconds, 1e-6);
  batch_ = std::clamp(static_cast<std::int64_t>(wanted) / kGrowth, std::int64_t{1}, kMostBatch / kGrowth) * kGrowth;
  many_seconds_ = std::max(kManySeconds, kLeastSteps * step_seconds * static_cast<double>(batch_) / kFirstBatch);
  try {
    process.evaluate();
    process.evaluate();
    process.exit();
  } catch (const measure::WorkerFailure& failure) {
    if (failure.outcome.kind != OutcomeKind::refused && failure.outcome.kind != OutcomeKind::failed) throw;
    evaluates_ = false;
  }
}

AuditRound Observer::observe(std::int64_t seed) const {
  AuditRound seen;
  request_.started("the whole network");
  seen.whole = observe_process({batch_, kLayers, many_seconds_}, seed);
  request_.started("a quarter of the samples");
  seen.fewer_samples = observe_process({batch_ / kGrowth, kLayers, many_seconds_ / kGrowth}, seed + 1);
  request_.started("a quarter of the layers");
  seen.fewer_layers = observe_process({batch_, kLayers / kGrowth, many_seconds_ / kGrowth}, seed + 2);
  return seen;
}

SeenProcess Observer::observe_process(const Size& size, std::int64_t seed) const {
  SeenProcess seen;
  AuditedProcess process(request_, size.batch, size.layers, seed);
  process.measure(std::max(kWarmSeconds, size.many_seconds / 2), std::numeric_limits<std::int64_t>::max());
  const bool writes_output = request_.worker.step_output;
  std::optional<Tensor> computed;
  if (evaluates_) {
    process.evaluate();
    computed = process.output();
    seen.output = computed->values;
  }
  for (int i = 0; i < kTurns; ++i) {
    seen.turns.push_back(take_turn(process, size.many_seconds, writes_output, evaluates_));
  }
  if (size.batch == batch_ && size.layers == kLayers) {
    const auto& one = seen.turns.back().one;
    const std::int64_t before_ns = one.wall_ns - one.samples_ns.front() + kBeforePauseNs;
    seen.longest_ns = process.measure_with_pause(
        size.many_seconds + kAroundPauseSeconds + 1e-9 * static_cast<double>(before_ns), before_ns);
    seen.idle_cpu_ns = process.idle_cpu_ns();
  }
  if (writes_output && computed) {
    process.measure_with_output(3);
    seen.output_error = output_error(process.output(), *computed);
  }
  process.exit();
  return seen;
}

}  // namespace assay::vet
