#include "assay/measure/agent/pair.hpp"

#include <cmath>
#include <map>

#include "assay/stats/quantile.hpp"

namespace assay::measure {
namespace {

/// Samples of all processes of one side, by round.
std::map<std::int64_t, std::vector<double>> rounds_of(const std::vector<RankResult>& ranks) {
  std::map<std::int64_t, std::vector<double>> rounds;
  for (const auto& rank : ranks) {
    std::size_t at = 0;
    for (const auto& slice : rank.slices) {
      const auto end = at + static_cast<std::size_t>(slice.samples);
      for (; at < end; ++at) {
        if (!slice.warmup) rounds[slice.turn / 2].push_back(static_cast<double>(rank.samples_ns[at]));
      }
    }
  }
  return rounds;
}

}  // namespace

std::optional<double> pair_log_ratio(const std::vector<RankResult>& a, const std::vector<RankResult>& b) {
  const auto rounds_a = rounds_of(a);
  std::vector<double> ratios;
  for (const auto& [round, samples] : rounds_of(b)) {
    const auto partner = rounds_a.find(round);
    if (partner == rounds_a.end()) continue;
    const double step_a = stats::median(partner->second);
    const double step_b = stats::median(samples);
    if (step_a > 0 && step_b > 0) ratios.push_back(std::log(step_b / step_a));
  }
  if (ratios.empty()) return std::nullopt;
  return stats::median(std::move(ratios));
}

}  // namespace assay::measure
