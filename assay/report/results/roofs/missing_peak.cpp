#include "assay/report/results/roofs/missing_peak.hpp"

#include <algorithm>
#include <map>

#include "assay/network/step_cost.hpp"
#include "assay/plan/sweeps/trial_sweep.hpp"
#include "assay/platform/machine/machine.hpp"
#include "assay/report/results/results.hpp"

namespace assay::report {
namespace {

constexpr std::array kSizes{1024, 2048, 4096};
// A command at its defaults is meant to end within a minute: this is what it measures besides what was asked for.
constexpr std::int64_t kRuns = 2;
constexpr double kSeconds = 0.5;
constexpr double kWarmupSeconds = 0.2;

/// What is missing, each by a worker of the campaign that has it.
struct Wanted {
  std::map<std::string, std::string> gemms;  ///< by precision
  std::optional<std::string> triad;
};

bool has(const plan::WorkerInfo* worker, const char* primitive) {
  return worker != nullptr &&
         std::find(worker->networks.begin(), worker->networks.end(), primitive) != worker->networks.end();
}

/// The first worker of the campaign that has a gemm, for each precision at which it has workloads of known FLOPs; and
/// the first that has a triad. Gemms and triads are roofs themselves and ask for none.
Wanted roofs_of_interest(const plan::Campaign& campaign, const plan::Catalog& catalog) {
  Wanted wanted;
  for (const auto& trial : campaign.trials) {
    const auto& workload = trial.workload;
    if (trial.placement.device != "cpu" || workload.network == "gemm" || workload.network == "triad") continue;
    const auto* worker = catalog.find(trial.worker);
    const bool needs_gemm = wanted.gemms.count(workload.precision) == 0 && has(worker, "gemm");
    const bool needs_triad = !wanted.triad && has(worker, "triad");
    if (!needs_gemm && !needs_triad) continue;
    const auto cost = network::step_cost(workload);
    if (!cost) continue;
    const std::string name = trial.worker.name + "==" + trial.worker.release;
    if (needs_gemm && cost->flops > 0) wanted.gemms.emplace(workload.precision, name);
    if (needs_triad && cost->least_bytes) wanted.triad = name;
  }
  return wanted;
}

plan::TrialSweep roof_sweep(const char* primitive, const std::string& worker, const std::string& precision) {
  plan::TrialSweep sweep;
  sweep.add("network", {primitive});
  sweep.add("worker", {worker, true});
  sweep.add("precision", {precision, true});
  return sweep;
}

}  // namespace

std::optional<plan::Campaign> missing_peak(store::Store* store, const plan::Campaign& campaign,
                                           const plan::Catalog& catalog) {
  auto wanted = roofs_of_interest(campaign, catalog);
  if (wanted.gemms.empty() && !wanted.triad) return {};
  if (store != nullptr) {
    const auto platform = platform::this_machine().id;
    const auto known = known_roofline(*store);
    std::erase_if(wanted.gemms, [&](const auto& one) { return known.peak(platform, one.first) != nullptr; });
    if (known.bandwidth(platform) != nullptr) wanted.triad.reset();
  }
  std::vector<plan::TrialSweep> sweeps;
  plan::Campaign peaks;
  peaks.name = "peak";
  for (const auto& [precision, worker] : wanted.gemms) {
    peaks.name += " " + precision;
    for (const int size : kSizes) {
      auto& sweep = sweeps.emplace_back(roof_sweep("gemm", worker, precision));
      for (const char* option : {"options.m", "options.n", "options.k"}) sweep.add(option, {std::to_string(size)});
    }
  }
  if (wanted.triad) {
    peaks.name += " memory";
    sweeps.push_back(roof_sweep("triad", *wanted.triad, "fp32"));
  }
  if (sweeps.empty()) return {};
  peaks.runs = kRuns;
  peaks.measure.seconds = kSeconds;
  peaks.measure.warmup_seconds = kWarmupSeconds;
  peaks.trials = plan::expand(sweeps, kRuns, catalog);
  return peaks;
}

}  // namespace assay::report
