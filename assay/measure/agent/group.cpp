#include "assay/measure/agent/group.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "assay/measure/rank/turns.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::measure {
namespace {

/// Samples of all processes of one side, by round.
std::map<std::int64_t, std::vector<double>> rounds_of(const std::vector<RankResult>& ranks, std::int64_t sides) {
  std::map<std::int64_t, std::vector<double>> rounds;
  for (const auto& rank : ranks) {
    std::int64_t at = 0;
    for (const auto& slice : rank.slices) {
      const auto end = at + slice.samples;
      if (!slice.warmup) {
        auto& samples = rounds[round_of_turn(slice.turn, sides)];
        const auto settled = at + std::min(kSettlingSteps, slice.samples - 1);
        for (auto i = settled; i < end; ++i) {
          samples.push_back(static_cast<double>(rank.samples_ns[static_cast<std::size_t>(i)]));
        }
      }
      at = end;
    }
  }
  return rounds;
}

}  // namespace

std::optional<double> log_ratio(const std::vector<std::vector<RankResult>>& results, std::size_t side,
                                std::size_t reference) {
  const auto sides = static_cast<std::int64_t>(results.size());
  const auto of_reference = rounds_of(results[reference], sides);
  std::vector<double> ratios;
  for (const auto& [round, samples] : rounds_of(results[side], sides)) {
    const auto beside = of_reference.find(round);
    if (beside == of_reference.end() || beside->second.empty() || samples.empty()) continue;
    const double step = stats::median(samples);
    const double step_of_reference = stats::median(beside->second);
    if (step > 0 && step_of_reference > 0) ratios.push_back(std::log(step / step_of_reference));
  }
  if (ratios.empty()) return std::nullopt;
  return stats::median(std::move(ratios));
}

}  // namespace assay::measure
