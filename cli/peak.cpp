#include "cli/peak.hpp"

#include <algorithm>
#include <map>

#include "assay/network/primitive.hpp"
#include "assay/plan/trial_sweep.hpp"
#include "assay/platform/machine.hpp"
#include "cli/results.hpp"

namespace assay::cli {
namespace {

constexpr std::array kSizes{1024, 2048, 4096};
constexpr std::int64_t kRuns = 3;

bool has_gemm(const plan::WorkerInfo* worker) {
  return worker != nullptr &&
         std::find(worker->networks.begin(), worker->networks.end(), "gemm") != worker->networks.end();
}

/// The first worker of the campaign that has a gemm, for each precision at which it has networks of known FLOPs.
std::map<std::string, std::string> peaks_of_interest(const plan::Campaign& campaign, const plan::Catalog& catalog) {
  std::map<std::string, std::string> wanted;
  for (const auto& trial : campaign.trials) {
    const auto& workload = trial.workload;
    if (trial.placement.device != "cpu" || wanted.count(workload.precision) != 0) continue;
    if (workload.network == "gemm" || !has_gemm(catalog.find(trial.worker)) || !network::sample_flops(workload))
      continue;
    wanted.emplace(workload.precision, trial.worker.name + "==" + trial.worker.release);
  }
  return wanted;
}

}  // namespace

std::optional<plan::Campaign> missing_peak(store::Store& store, const plan::Campaign& campaign,
                                           const plan::Catalog& catalog) {
  auto wanted = peaks_of_interest(campaign, catalog);
  if (wanted.empty()) return {};
  const auto platform = platform::this_machine().id;
  for (const auto& peak : known_peaks(store)) {
    if (peak.platform == platform) wanted.erase(peak.precision);
  }
  std::vector<plan::TrialSweep> sweeps;
  plan::Campaign peaks;
  peaks.name = "peak";
  for (const auto& [precision, worker] : wanted) {
    peaks.name += " " + precision;
    for (const int size : kSizes) {
      auto& sweep = sweeps.emplace_back();
      sweep.add("network", {"gemm"});
      sweep.add("worker", {worker, true});
      sweep.add("precision", {precision, true});
      for (const char* option : {"options.m", "options.n", "options.k"}) sweep.add(option, {std::to_string(size)});
    }
  }
  if (sweeps.empty()) return {};
  peaks.runs = kRuns;
  peaks.measure.seconds = 1;
  peaks.trials = plan::expand(sweeps, kRuns, catalog);
  return peaks;
}

}  // namespace assay::cli
