#include "assay/predict/simulation/simulate.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <optional>

#include "assay/core/clock.hpp"
#include "assay/predict/simulation/simulate_network.hpp"
#include "assay/predict/simulation/simulate_steps.hpp"

namespace assay::predict {
namespace {

/// A step whose messages have been simulated.
struct CostedStep {
  double times = 1;
  double share = 1;
  std::optional<SimulatedCost> inside;
  std::optional<SimulatedCost> across;

  double seconds(double bucket_bytes) const {
    const auto of = [&](const std::optional<SimulatedCost>& cost) {
      return cost ? cost->latency_seconds + bucket_bytes * share * cost->seconds_per_byte : 0;
    };
    return times * std::max(of(inside), of(across));
  }
};

std::int64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

/// The steps of the collective, and in `flows` how many messages were simulated.
std::vector<CostedStep> simulate_steps(const SimulationRequest& r, std::int64_t& flows) {
  std::optional<SimulatedNetwork> network;
  if (r.topology.nodes > 1) network.emplace(r.topology, r.across, r.background);
  std::vector<CostedStep> costed;
  for (const auto& step : simulated_steps(r)) {
    auto& added = costed.emplace_back(CostedStep{step.times, step.share, {}, {}});
    if (step.inside) added.inside = {r.inside->latency_seconds, 1 / r.inside->bandwidth_bytes_per_second};
    if (!step.sends.empty()) added.across = network->cost(step.sends, step.streams);
  }
  flows = network ? network->flows() : 0;
  return costed;
}

/// By how much the slowest node is slower than others.
double slowest_factor(const std::vector<SimulatedStraggler>& stragglers) {
  double factor = 1;
  for (const auto& straggler : stragglers) factor = std::max(factor, straggler.factor);
  return factor;
}

}  // namespace

SimulationAnswer simulate(const SimulationRequest& request) {
  const auto begin_ns = monotonic_ns();
  check_simulation(request);
  SimulationAnswer answer;
  const auto steps = simulate_steps(request, answer.flows);
  const double factor = slowest_factor(request.stragglers);
  double free_seconds = 0;  // when the one before has ended
  for (const auto& bucket : request.buckets) {
    SimulatedSpan span;
    span.begin_seconds = std::max(free_seconds, bucket.ready_seconds * factor);
    span.end_seconds = span.begin_seconds;
    for (const auto& step : steps) span.end_seconds += step.seconds(static_cast<double>(bucket.bytes));
    free_seconds = span.end_seconds;
    answer.buckets.push_back(span);
  }
  answer.iteration_seconds = std::max(free_seconds, request.compute_seconds * factor);
  answer.wall_seconds = static_cast<double>(monotonic_ns() - begin_ns) * 1e-9;
  answer.peak_resident_bytes = peak_resident_bytes();
  return answer;
}

}  // namespace assay::predict
