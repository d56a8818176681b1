#include "assay/measure/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "assay/stats/quantile.hpp"

namespace assay::measure {
namespace {

/// Steady slices of one process, with the sum of their samples.
struct Steady {
  std::vector<double> samples_ns;
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns = 0;
  double sum_ns = 0;
};

Steady steady_part(const RankResult& rank) {
  Steady steady;
  std::size_t at = 0;
  for (const auto& slice : rank.slices) {
    const std::size_t end = at + static_cast<std::size_t>(slice.samples);
    if (!slice.warmup) {
      for (std::size_t i = at; i < end; ++i) {
        steady.samples_ns.push_back(static_cast<double>(rank.samples_ns[i]));
        steady.sum_ns += steady.samples_ns.back();
      }
      steady.begin_ns = std::min(steady.begin_ns, slice.begin_ns);
      steady.end_ns = std::max(steady.end_ns, slice.end_ns);
    }
    at = end;
  }
  return steady;
}

/// Samples of one process that lie inside [from, to]; a slice that is cut counts in proportion.
double steps_within(const RankResult& rank, std::int64_t from, std::int64_t to) {
  double steps = 0;
  for (const auto& slice : rank.slices) {
    const auto length = static_cast<double>(slice.end_ns - slice.begin_ns);
    const auto inside = static_cast<double>(std::min(slice.end_ns, to) - std::max(slice.begin_ns, from));
    if (!slice.warmup && inside > 0 && length > 0)
      steps += static_cast<double>(slice.samples) * std::min(1.0, inside / length);
  }
  return steps;
}

/// Ranks that work together take every step together: it lasts as long as on the slowest of them. Their clocks are
/// never compared.
Steady joint_part(const std::vector<Steady>& ranks) {
  Steady joint = ranks[0];
  for (const auto& rank : ranks) {
    for (std::size_t i = 0; i < std::min(joint.samples_ns.size(), rank.samples_ns.size()); ++i) {
      joint.samples_ns[i] = std::max(joint.samples_ns[i], rank.samples_ns[i]);
    }
  }
  joint.sum_ns = std::accumulate(joint.samples_ns.begin(), joint.samples_ns.end(), 0.0);
  return joint;
}

/// Steps a second of all processes together.
std::optional<double> step_rate(const std::vector<RankResult>& ranks, const std::vector<Steady>& steady) {
  if (ranks.size() == 1) {
    // One process: its own samples alone, so that the speed probe between slices costs nothing.
    if (steady[0].sum_ns <= 0) return std::nullopt;
    return static_cast<double>(steady[0].samples_ns.size()) / (steady[0].sum_ns / 1e9);
  }
  std::int64_t from = 0;
  std::int64_t to = std::numeric_limits<std::int64_t>::max();
  for (const auto& part : steady) {
    from = std::max(from, part.begin_ns);
    to = std::min(to, part.end_ns);
  }
  if (to <= from) return std::nullopt;
  double steps = 0;
  for (const auto& rank : ranks) steps += steps_within(rank, from, to);
  return steps / (static_cast<double>(to - from) / 1e9);
}

}  // namespace

Summary summarise(const std::vector<RankResult>& ranks, const Trial& trial) {
  Summary summary;
  std::vector<double> all;
  std::vector<Steady> steady;
  for (const auto& rank : ranks) {
    summary.n += static_cast<std::int64_t>(rank.samples_ns.size());
    steady.push_back(steady_part(rank));
  }
  const bool together = trial.placement.ranks > 1 && ranks.size() > 1;
  if (together) steady = {joint_part(steady)};
  for (const auto& one : steady) all.insert(all.end(), one.samples_ns.begin(), one.samples_ns.end());
  if (all.empty()) return summary;
  // Samples of several processes lie one after the other; the index is that of the first process.
  summary.steady_from = static_cast<std::int64_t>(ranks[0].samples_ns.size() - steady[0].samples_ns.size());
  std::sort(all.begin(), all.end());
  summary.median_ns = std::llround(stats::quantile_sorted(all, 0.5));
  summary.p90_ns = std::llround(stats::quantile_sorted(all, 0.9));
  summary.p99_ns = std::llround(stats::quantile_sorted(all, 0.99));
  const auto processes = static_cast<double>(together ? ranks.size() : 1);  // each with its own batch
  if (const auto rate = step_rate(together ? std::vector{ranks[0]} : ranks, steady))
    summary.samples_per_second = *rate * static_cast<double>(trial.workload.batch) * processes;
  return summary;
}

}  // namespace assay::measure
