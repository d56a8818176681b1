#include "assay/report/results/roofs/missing_peak.hpp"

#include <algorithm>
#include <map>

#include "assay/network/step_cost.hpp"
#include "assay/plan/sweeps/trial_sweep.hpp"
#include "assay/platform/machine/machine.hpp"
#include "assay/report/results/results.hpp"

namespace assay::report {
namespace {

// A command at its defaults is meant to end within a minute: this is what it measures besides what was asked for.
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

/// What measures all that is wanted; no trials where that is nothing.
plan::Campaign campaign_of(const Wanted& wanted, const plan::Catalog& catalog) {
  std::vector<plan::TrialSweep> sweeps;
  plan::Campaign peaks;
  peaks.name = "peak";
  for (const auto& [precision, worker] : wanted.gemms) {
    peaks.name += " " + precision;
    for (const auto size : kPeakSizes) {
      auto& sweep = sweeps.emplace_back(roof_sweep("gemm", worker, precision));
      for (const char* option : {"options.m", "options.n", "options.k"}) sweep.add(option, {std::to_string(size)});
    }
  }
  if (wanted.triad) {
    peaks.name += " memory";
    sweeps.push_back(roof_sweep("triad", *wanted.triad, "fp32"));
  }
  peaks.runs = kPeakRuns;
  peaks.measure.seconds = kSeconds;
  peaks.measure.warmup_seconds = kWarmupSeconds;
  if (!sweeps.empty()) peaks.trials = plan::expand(sweeps, kPeakRuns, catalog);
  return peaks;
}

/// Whether runs of a campaign are left to do; nothing where it was never planned.
std::optional<bool> is_unfinished(store::Store& store, const plan::Campaign& campaign) {
  const auto id = plan::campaign_id(campaign, 0);
  for (const auto& row : store.campaigns()) {
    if (row.id == id) return row.progress.ready + row.progress.leased > 0;
  }
  return {};
}

}  // namespace

std::optional<plan::Campaign> missing_peak(store::Store* store, const plan::Campaign& campaign,
                                           const plan::Catalog& catalog) {
  auto wanted = roofs_of_interest(campaign, catalog);
  if (wanted.gemms.empty() && !wanted.triad) return {};
  auto peaks = campaign_of(wanted, catalog);
  if (store == nullptr) return peaks;
  // One that was stopped halfway is finished as it was planned.
  if (is_unfinished(*store, peaks).value_or(false)) return peaks;
  const auto platform = platform::this_machine().id;
  const auto known = known_roofline(*store);
  std::erase_if(wanted.gemms, [&](const auto& one) { return known.peak(platform, one.first) != nullptr; });
  if (known.bandwidth(platform) != nullptr) wanted.triad.reset();
  peaks = campaign_of(wanted, catalog);
  if (peaks.trials.empty() || !is_unfinished(*store, peaks).value_or(true)) return {};
  return peaks;
}

}  // namespace assay::report
