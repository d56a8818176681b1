#include "assay/report/results/roofs/roofline.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "assay/network/step_cost.hpp"

namespace assay::report {
namespace {

/// Three arrays of 2^25 numbers, the default. Smaller ones may be in a cache, whose rate is not a roof.
constexpr double kLeastTriadBytes = 3.0 * 4 * (1 << 25);

/// Costs, each workload once: building a graph takes milliseconds.
class CostOf {
 public:
  const std::optional<network::StepCost>& operator()(const Workload& workload) {
    const std::string key = canonical_json(to_json(workload));
    const auto it = known_.find(key);
    if (it != known_.end()) return it->second;
    return known_.emplace(key, network::step_cost(workload)).first->second;
  }

 private:
  std::map<std::string, std::optional<network::StepCost>> known_;
};

double steps_per_second(const Result& result) {
  return *result.samples_per_second / static_cast<double>(result.trial.workload.batch);
}

void add_share_of_peak(Result& result, const Peak* peak) {
  if (!result.flops_per_second) {
    result.share_reason = "no FLOPs of this workload are counted: it moves memory";
  } else if (peak == nullptr) {
    result.share_reason =
        fmt::format("no gemm of each size ({}) has {} good runs on this platform at {}: the peak is not known",
                    fmt::join(kPeakSizes, ", "), kPeakRuns, result.trial.workload.precision);
  } else {
    result.share_of_peak = *result.flops_per_second / peak->flops_per_second;
    result.peak_trial = peak->trial_id;
  }
}

/// The time a step takes at least, over the time it takes.
std::optional<double> share_of_roofline(const Result& result, const Peak* peak, const Bandwidth* bandwidth) {
  if (!result.bytes_per_second || bandwidth == nullptr) return {};
  double share = *result.bytes_per_second / bandwidth->bytes_per_second;
  if (!result.flops_per_second) return share;
  if (peak == nullptr) return {};
  return std::max(share, *result.flops_per_second / peak->flops_per_second);
}

/// Of prefill alone. Most engines compute in fp32 with weights of any precision: where no gemm was measured at the
/// workload's own, that is the peak.
void add_prefill_share(Result& result, const Roofline& roofline) {
  const auto flops = network::prefill_flops(result.trial.workload);
  if (!flops || !(result.generated->prompt_tokens_per_second > 0)) {
    result.share_reason = "the FLOPs of this workload are not known";
    return;
  }
  const auto& asked = *result.trial.workload.generate;
  const auto tokens = static_cast<double>(asked.prompt_tokens * asked.sequences);
  result.flops_per_second = *flops / tokens * result.generated->prompt_tokens_per_second;
  const Peak* peak = roofline.peak(result.platform, result.trial.workload.precision);
  add_share_of_peak(result, peak != nullptr ? peak : roofline.peak(result.platform, "fp32"));
}

/// For every token all weights are read once, for all sequences together, and what the cache holds by then; here the
/// weights alone are counted.
void add_decode_share(Result& result, const Bandwidth* bandwidth) {
  const auto& generated = *result.generated;
  if (!generated.weights_bytes || generated.token_ns.value_or(0) <= 0) return;
  result.bytes_per_second =
      static_cast<double>(*generated.weights_bytes) / (static_cast<double>(*generated.token_ns) / 1e9);
  if (bandwidth != nullptr) result.share_of_roofline = *result.bytes_per_second / bandwidth->bytes_per_second;
}

/// The side of a square gemm; 0 where it is another one.
std::int64_t side_of_gemm(const Workload& workload) {
  std::set<std::int64_t> sides;
  for (const char* name : {"m", "n", "k"}) {
    const auto it = workload.options.find(name);
    const auto* side = it == workload.options.end() ? nullptr : std::get_if<std::int64_t>(&it->second);
    sides.insert(it == workload.options.end() ? kPeakSizes.front() : side == nullptr ? 0 : *side);
  }
  return sides.size() == 1 ? *sides.begin() : 0;
}

bool is_large_triad(const Workload& workload) {
  const auto cost = workload.network == "triad" ? network::step_cost(workload) : std::nullopt;
  return cost && cost->least_bytes.value_or(0) >= kLeastTriadBytes;
}

using Roof = std::pair<std::string, std::string>;  ///< platform, and precision of a gemm or "triad"

/// Roofs of which every size has its runs, by one worker.
std::set<Roof> whole_roofs(const std::vector<Result>& results) {
  std::map<std::tuple<Roof, std::string, std::string>, std::set<std::int64_t>> sizes;
  std::set<Roof> whole;
  for (const auto& result : results) {
    const auto& workload = result.trial.workload;
    if (result.ok < kPeakRuns) continue;
    if (is_large_triad(workload)) whole.emplace(result.platform, "triad");
    const auto side = workload.network == "gemm" ? side_of_gemm(workload) : 0;
    if (std::find(kPeakSizes.begin(), kPeakSizes.end(), side) == kPeakSizes.end()) continue;
    const Roof roof{result.platform, workload.precision};
    auto& known = sizes[{roof, result.trial.worker.name, result.trial.worker.release}];
    known.insert(side);
    if (known.size() == kPeakSizes.size()) whole.insert(roof);
  }
  return whole;
}

template <typename Best, typename Same>
const Best* find(const std::vector<Best>& all, Same same) {
  const auto it = std::find_if(all.begin(), all.end(), same);
  return it == all.end() ? nullptr : &*it;
}

}  // namespace

const Peak* Roofline::peak(const std::string& platform, const std::string& precision) const {
  return find(peaks, [&](const Peak& p) { return p.platform == platform && p.precision == precision; });
}

const Bandwidth* Roofline::bandwidth(const std::string& platform) const {
  return find(bandwidths, [&](const Bandwidth& b) { return b.platform == platform; });
}

Roofline roofline_of(const std::vector<Result>& results) {
  std::map<std::pair<std::string, std::string>, Peak> peaks;
  std::map<std::string, Bandwidth> bandwidths;
  for (const auto& result : results) {
    const auto& workload = result.trial.workload;
    const bool is_gemm = workload.network == "gemm";
    if ((!is_gemm && workload.network != "triad") || !result.samples_per_second) continue;
    const auto cost = network::step_cost(workload);
    if (!cost) continue;
    if (is_gemm) {
      auto& peak = peaks[{result.platform, workload.precision}];
      const double rate = cost->flops * steps_per_second(result);
      if (rate > peak.flops_per_second) peak = {result.platform, workload.precision, rate, result.trial_id};
    } else if (cost->least_bytes.value_or(0) >= kLeastTriadBytes) {
      auto& bandwidth = bandwidths[result.platform];
      const double rate = *cost->least_bytes * steps_per_second(result);
      if (rate > bandwidth.bytes_per_second) bandwidth = {result.platform, rate, result.trial_id};
    }
  }
  Roofline roofline;
  for (auto& [key, peak] : peaks) roofline.peaks.push_back(std::move(peak));
  for (auto& [key, bandwidth] : bandwidths) roofline.bandwidths.push_back(std::move(bandwidth));
  return roofline;
}

Roofline whole_roofline_of(const std::vector<Result>& results) {
  const auto whole = whole_roofs(results);
  auto roofline = roofline_of(results);
  std::erase_if(roofline.peaks, [&](const Peak& peak) { return whole.count({peak.platform, peak.precision}) == 0; });
  std::erase_if(roofline.bandwidths, [&](const Bandwidth& one) { return whole.count({one.platform, "triad"}) == 0; });
  return roofline;
}

void add_shares(std::vector<Result>& results, const Roofline& roofline) {
  CostOf cost_of;
  for (auto& result : results) {
    const auto& workload = result.trial.workload;
    if (result.generated) {
      add_prefill_share(result, roofline);
      add_decode_share(result, roofline.bandwidth(result.platform));
      continue;
    }
    const auto& cost = cost_of(workload);
    if (!cost) {
      result.share_reason = "the FLOPs of this workload are not known";
      continue;
    }
    if (!result.samples_per_second) {
      result.share_reason = "no run was good";
      continue;
    }
    const double steps = steps_per_second(result);
    if (cost->flops > 0) result.flops_per_second = cost->flops * steps;
    if (cost->least_bytes) result.bytes_per_second = *cost->least_bytes * steps;
    const Peak* peak = roofline.peak(result.platform, workload.precision);
    add_share_of_peak(result, peak);
    result.share_of_roofline = share_of_roofline(result, peak, roofline.bandwidth(result.platform));
  }
}

}  // namespace assay::report
