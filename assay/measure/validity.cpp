#include "assay/measure/validity.hpp"

#include <algorithm>

#include "assay/core/units.hpp"

namespace assay::measure {
namespace {

// The kernel counts in ticks of 10 ms: a shorter window cannot tell 2 % from nothing.
constexpr std::int64_t kShortestWindowNs = 500'000'000;
constexpr double kMostSteal = 0.02;
constexpr double kMostThrottled = 0.01;
constexpr double kMostNeighbours = 0.10;
constexpr double kMostProbeSpread = 1.25;

void add(Validity& validity, const char* code, std::string message) {
  validity.trusted = false;
  for (const auto& reason : validity.reasons) {
    if (reason.code == code) return;  // one process saw it: enough
  }
  validity.reasons.push_back({code, std::move(message)});
}

/// `part` of `whole` above `limit`?
bool above(const std::optional<std::int64_t>& part, double whole, double limit) {
  return part && static_cast<double>(*part) > limit * whole;
}

std::string share(const char* what, std::int64_t part, double whole) {
  return fmt::format("{}: {} ({:.1f} %)", what, format_duration(static_cast<double>(part)),
                     100.0 * static_cast<double>(part) / whole);
}

double cpus_of(const Disturbance& d) {
  return static_cast<double>(std::max<std::int64_t>(1, d.cpus.value_or(1)));
}

void judge_counters(const Disturbance& d, Validity& validity) {
  if (!d.window_ns || *d.window_ns < kShortestWindowNs) return;
  const double cpus = cpus_of(d);
  const auto window = static_cast<double>(*d.window_ns);
  if (above(d.steal_ns, window * cpus, kMostSteal)) {
    add(validity, "steal", share("the hypervisor took CPU time", *d.steal_ns, window * cpus));
  }
  if (above(d.throttled_ns, window, kMostThrottled)) {
    add(validity, "throttled", share("a CPU quota stopped the worker", *d.throttled_ns, window));
  }
  if (d.swap_bytes && *d.swap_bytes > 0) {
    add(validity, "swap", fmt::format("{} were swapped while measuring", format_bytes(*d.swap_bytes)));
  }
}

/// Other processes only disturb where the worker's threads had to wait for them.
void judge_neighbours(const std::vector<RankResult>& ranks, std::int64_t partner_cpu_ns, Validity& validity) {
  const Disturbance& d = ranks[0].disturbance;
  if (!d.window_ns || *d.window_ns < kShortestWindowNs || !d.other_cpu_ns) return;
  // What the other instances of the same run used is the workload's own.
  const std::int64_t own = cpu_used_ns(ranks) - d.cpu_ns.value_or(0) + partner_cpu_ns;
  const std::int64_t others = std::max<std::int64_t>(0, *d.other_cpu_ns - own);
  const double cpus = cpus_of(d);
  const auto window = static_cast<double>(*d.window_ns);
  if (above(others, window * cpus, kMostNeighbours) && above(d.wait_ns, window, 0.01)) {
    add(validity, "neighbours", share("other processes used the same CPUs", others, window * cpus));
  }
}

void judge_probe(const RankResult& rank, Validity& validity) {
  std::vector<std::int64_t> times;
  for (const auto& slice : rank.slices) {
    if (slice.probe_ns) times.push_back(*slice.probe_ns);
  }
  if (rank.probe_after_ns) times.push_back(*rank.probe_after_ns);
  // A few probes are too few: a single interrupt would make a verdict.
  if (times.size() < 5) return;
  std::sort(times.begin(), times.end());
  const auto low = static_cast<double>(times[times.size() / 4]);
  const auto high = static_cast<double>(times[times.size() * 3 / 4]);
  if (low > 0 && high / low > kMostProbeSpread) {
    add(validity, "probe",
        fmt::format("the host's own speed changed while measuring: the probe took {} to {}", format_duration(low),
                    format_duration(high)));
  }
}

}  // namespace

std::int64_t cpu_used_ns(const std::vector<RankResult>& ranks) {
  std::int64_t used = 0;
  for (const auto& rank : ranks) used += rank.disturbance.cpu_ns.value_or(0);
  return used;
}

Validity judge(const std::vector<RankResult>& ranks, std::int64_t partner_cpu_ns) {
  Validity validity;
  if (ranks.empty()) return validity;
  for (const auto& rank : ranks) {
    judge_counters(rank.disturbance, validity);
    judge_probe(rank, validity);
  }
  judge_neighbours(ranks, partner_cpu_ns, validity);
  return validity;
}

}  // namespace assay::measure
