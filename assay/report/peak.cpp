#include "assay/report/peak.hpp"

#include <algorithm>

#include "assay/network/primitive.hpp"

namespace assay::report {
namespace {

/// FLOPs of samples, each workload once: building a graph takes milliseconds.
class FlopsOf {
 public:
  std::optional<double> operator()(const Workload& workload) {
    Workload one = workload;
    one.batch = 1;
    one.precision = "fp32";
    const std::string key = canonical_json(to_json(one));
    const auto it = known_.find(key);
    if (it != known_.end()) return it->second;
    return known_.emplace(key, network::sample_flops(one)).first->second;
  }

 private:
  std::map<std::string, std::optional<double>> known_;
};

}  // namespace

std::vector<Peak> peaks_of(const std::vector<Result>& results) {
  std::map<std::pair<std::string, std::string>, Peak> best;
  for (const auto& result : results) {
    const auto& workload = result.trial.workload;
    if (workload.network != "gemm" || !result.samples_per_second) continue;
    const auto flops = network::sample_flops(workload);
    if (!flops) continue;
    const double rate = *flops * *result.samples_per_second;
    auto& peak = best[{result.platform, workload.precision}];
    if (rate > peak.flops_per_second) peak = {result.platform, workload.precision, rate, result.trial_id};
  }
  std::vector<Peak> peaks;
  for (auto& [key, peak] : best) peaks.push_back(std::move(peak));
  return peaks;
}

void add_shares(std::vector<Result>& results, const std::vector<Peak>& peaks) {
  FlopsOf flops_of;
  for (auto& result : results) {
    const auto flops = flops_of(result.trial.workload);
    if (!flops) {
      result.share_reason = "the FLOPs of this workload are not known";
      continue;
    }
    if (!result.samples_per_second) {
      result.share_reason = "no run was good";
      continue;
    }
    result.flops_per_second = *flops * *result.samples_per_second;
    const auto peak = std::find_if(peaks.begin(), peaks.end(), [&](const Peak& p) {
      return p.platform == result.platform && p.precision == result.trial.workload.precision;
    });
    if (peak == peaks.end()) {
      result.share_reason = fmt::format("no gemm was measured on this platform at {}", result.trial.workload.precision);
      continue;
    }
    result.share_of_peak = *result.flops_per_second / peak->flops_per_second;
    result.peak_trial = peak->trial_id;
  }
}

}  // namespace assay::report
