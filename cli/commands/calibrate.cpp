#include "cli/commands/calibrate.hpp"

#include <algorithm>

#include "assay/compare/calibration.hpp"
#include "assay/core/text/hash.hpp"
#include "assay/core/text/units.hpp"
#include "assay/plan/sweeps/trial_sweep.hpp"
#include "assay/platform/machine/machine.hpp"
#include "assay/report/subjects/verdicts/comparison.hpp"
#include "cli/command.hpp"
#include "cli/paths.hpp"
#include "cli/stop.hpp"

namespace assay::cli {
namespace {

/// What tells the two sides apart; no worker reads it.
constexpr const char* kSideVariable = "CALIBRATION_SIDE";

std::string worker_with(const std::string& network, const plan::Catalog& catalog) {
  for (const auto& worker : catalog.workers()) {
    const bool has = std::find(worker.networks.begin(), worker.networks.end(), network) != worker.networks.end();
    if (worker.installed() && has) return worker.name + "==" + worker.release;
  }
  fail(ErrorKind::usage,
       "no worker that is installed here has {}. Install one (assay worker install pytorch) or name "
       "one with --calibrate-worker.",
       shown(network));
}

plan::Campaign against_itself(const CalibrateFlags& flags, const plan::Catalog& catalog) {
  const auto worker = flags.worker.empty() ? worker_with(flags.network, catalog) : flags.worker;
  std::vector<plan::TrialSweep> sweeps;
  for (const bool second : {false, true}) {
    auto& sweep = sweeps.emplace_back();
    sweep.add("network", {flags.network, false, ""});
    sweep.add("worker", {worker, true, ""});
    if (second) sweep.add(std::string("settings.env.") + kSideVariable, {"b", true, ""});
  }
  plan::Campaign campaign;
  campaign.name = "calibration";
  campaign.runs = flags.pairs;
  campaign.lockstep = true;
  campaign.measure.seconds = parse_seconds(flags.seconds, "--calibrate-seconds");
  campaign.measure.phases = false;
  campaign.trials = plan::expand(sweeps, flags.pairs, catalog);
  check(campaign, catalog);
  return campaign;
}

}  // namespace

void add_calibrate_flags(CLI::App& command, CalibrateFlags& flags) {
  const char* group = "Calibration";
  command
      .add_flag("--calibrate", flags.wanted,
                "Compare a trial with itself to learn the smallest difference that can be seen here; kept in the store")
      ->group(group);
  command.add_option("--pairs", flags.pairs, "Measure this many lock-step pairs")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{6}, std::int64_t{10'000}))
      ->group(group);
  command
      .add_option("--calibrate-worker", flags.worker,
                  "Measure with this worker [the first one installed that has the network]")
      ->group(group);
  command.add_option("--calibrate-network", flags.network, "Measure this network or primitive")
      ->capture_default_str()
      ->group(group);
  command.add_option("--calibrate-seconds", flags.seconds, "Measure each side of a pair for this long")
      ->capture_default_str()
      ->group(group);
}

int calibrate(const CalibrateFlags& flags, const WorkFlags& flags_of_work, const AnswerFlags& flags_of_answer) {
  const auto catalog = catalog_at_hand();
  const auto campaign = against_itself(flags, catalog);
  const auto stop = stop_signals();
  const auto store = store::open_store(flags_of_work.store, store::Access::create);
  std::string id;
  // Again each time: a host changes.
  const auto known = compare::calibrations(*store);
  const auto platform = platform::this_machine().id;
  const bool again = std::any_of(known.begin(), known.end(), [&](const auto& one) { return one.platform == platform; });
  if (work(flags_of_work, *store, catalog, campaign, again, stop.get(), id) == measure::AgentEnd::stopped) {
    std::fprintf(stderr, "assay: stopped; the same command goes on from here\n");
    return kExitStopped;
  }
  compare::Calibration calibration;
  calibration.platform = platform;
  calibration.trial = title(campaign.trials[0]);
  calibration.noise = compare::noise_of(store->runs({.campaign = id}));
  store->put_artifact(compare::kCalibrationKind, hash_hex(platform), to_json(calibration));
  auto document = report::noise_document(calibration);
  document.paragraph("Kept in the store: `assay compare` gives no verdict below what this host shows by chance.");
  answer(flags_of_answer, document, [&] { return report::json_calibration(calibration); });
  return 0;
}

}  // namespace assay::cli
