#include "cli/peak.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "assay/network/primitive.hpp"
#include "assay/plan/trial_sweep.hpp"
#include "assay/report/peak.hpp"

namespace assay::cli {
namespace {

constexpr std::array kSizes{1024, 2048, 4096};
constexpr std::int64_t kRuns = 3;

bool has_gemm(const plan::WorkerInfo* worker) {
  return worker != nullptr &&
         std::find(worker->networks.begin(), worker->networks.end(), "gemm") != worker->networks.end();
}

/// The first worker of the campaign that has a gemm, for each precision whose peak is not known.
std::map<std::string, std::string> wanted_peaks(const plan::Campaign& campaign, const plan::Catalog& catalog,
                                                const std::set<std::string>& known) {
  std::map<std::string, std::string> wanted;
  std::set<std::string> seen;
  for (const auto& trial : campaign.trials) {
    const auto& workload = trial.workload;
    if (known.count(workload.precision) != 0 || trial.placement.device != "cpu") continue;
    if (!seen.insert(workload.precision + workload.network + trial.worker.name + trial.worker.release).second) continue;
    if (workload.network == "gemm" || !has_gemm(catalog.find(trial.worker)) || !network::sample_flops(workload))
      continue;
    wanted.emplace(workload.precision, trial.worker.name + "==" + trial.worker.release);
  }
  return wanted;
}

}  // namespace

std::optional<plan::Campaign> missing_peak(store::Store& store, const plan::Campaign& campaign,
                                           const plan::Catalog& catalog, const std::string& platform) {
  const store::Filter gemms{.network = "gemm"};
  std::set<std::string> known;
  for (const auto& peak : report::peaks_of(report::results_of(store.trials(gemms), store.runs(gemms)))) {
    if (peak.platform == platform) known.insert(peak.precision);
  }
  std::vector<plan::TrialSweep> sweeps;
  plan::Campaign peaks;
  peaks.name = "peak";
  for (const auto& [precision, worker] : wanted_peaks(campaign, catalog, known)) {
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
