#include "assay/plan/campaign.hpp"

#include <algorithm>
#include <set>

#include "assay/core/text/hash.hpp"
#include "assay/core/workloads/learning.hpp"
#include "assay/core/workloads/scenario.hpp"
#include "assay/plan/catalog/catalog.hpp"
#include "assay/plan/sweeps/sweep.hpp"
#include "assay/plan/text.hpp"

namespace assay::plan {
namespace {

constexpr std::size_t kLongestName = 200;
constexpr std::int64_t kMostRuns = 10'000'000;

void check_name(const std::string& name) {
  if (name.empty() || name.size() > kLongestName) {
    fail(ErrorKind::usage, "name: {} has {} bytes. Write 1 to {}.", shown(name), name.size(), kLongestName);
  }
  check_text(name, "name");
}

void check_workers(const Campaign& campaign, const Catalog& catalog) {
  if (!campaign.measure.phases.value_or(false) && !campaign.measure.layers) return;
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& trial : campaign.trials) {
    if (!seen.emplace(trial.worker.name, trial.worker.release).second) continue;
    if (const auto* worker = catalog.find(trial.worker)) check_details(*worker, campaign.measure);
  }
}

/// Queries come by a schedule of their own.
void check_scenarios(const Campaign& campaign) {
  const auto has = [](const Trial& trial) { return scenario_of(trial.workload.load).has_value(); };
  if (std::none_of(campaign.trials.begin(), campaign.trials.end(), has)) return;
  const char* const unused = campaign.lockstep                         ? "lockstep"
                             : campaign.measure.layers                 ? "layers"
                             : campaign.measure.phases.value_or(false) ? "phases"
                                                                       : nullptr;
  if (unused == nullptr) return;
  fail(ErrorKind::usage, "{}: a scenario has queries in place of steps, and no {}. Leave out one of them.", unused,
       campaign.lockstep ? "turns" : unused);
}

/// What was learnt cannot be taken back: there are no turns, no warm-up and no passes of their own.
void check_whole(const Campaign& campaign) {
  const auto learns = [](const Trial& trial) { return trial.workload.data == kDigits; };
  if (std::none_of(campaign.trials.begin(), campaign.trials.end(), learns)) return;
  const char* const unused = campaign.lockstep                         ? "lockstep"
                             : campaign.measure.layers                 ? "layers"
                             : campaign.measure.phases.value_or(false) ? "phases"
                                                                       : nullptr;
  if (unused == nullptr) return;
  fail(ErrorKind::usage, "{}: a training that ends at an accuracy is taken as a whole. Leave out one of them.", unused);
}

/// Trials that take turns live on one machine, each in its own processes; ranks agree on steps by themselves.
void check_lockstep(const std::vector<Trial>& trials) {
  if (trials.size() < 2) {
    fail(ErrorKind::usage,
         "lockstep: trials take turns, and there is only one. Set it to false, or describe two trials or more.");
  }
  for (const auto& trial : trials) {
    if (trial.placement.ranks > 1) {
      fail(ErrorKind::usage,
           "lockstep: {} has {} ranks, and several ranks cannot take turns with other trials. Leave it out.",
           shown(title(trial)), trial.placement.ranks);
    }
  }
}

}  // namespace

void check(const Campaign& campaign, const Catalog& catalog) {
  check_name(campaign.name);
  if (campaign.seed < 0 || campaign.seed > kLargestNumber) {
    fail(ErrorKind::usage, "seed: {} is outside 0 to {}.", campaign.seed, kLargestNumber);
  }
  if (campaign.runs < 1 || campaign.runs > kMostRuns) {
    fail(ErrorKind::usage, "runs: {} is outside 1 to {}.", campaign.runs, kMostRuns);
  }
  check(campaign.measure);
  check_workers(campaign, catalog);
  if (campaign.trials.empty()) fail(ErrorKind::usage, "trials: there are none. Describe one or more.");
  check_scenarios(campaign);
  check_whole(campaign);
  if (campaign.lockstep) check_lockstep(campaign.trials);
}

std::string campaign_id(const Campaign& campaign, std::int64_t round) {
  json identity = {{"name", campaign.name},
                   {"seed", campaign.seed},
                   {"lockstep", campaign.lockstep},
                   {"measure", to_json(campaign.measure)},
                   {"round", round},
                   {"trials", json::array()}};
  if (campaign.grows) {
    identity["grows"] = *campaign.grows;
  } else {
    for (const auto& trial : campaign.trials) identity["trials"].push_back(trial_id(trial));
  }
  return hash_hex(canonical_json(identity));
}

std::int64_t run_order(std::int64_t seed, const std::string& trial_id, std::int64_t index) {
  return hash_int(fmt::format("order {} {} {}", seed, trial_id, index));
}

std::int64_t run_seed(std::int64_t seed, const std::string& trial_id, std::int64_t index) {
  // 53 bits, so that every language's JSON reader keeps it exact.
  return hash_int(fmt::format("seed {} {} {}", seed, trial_id, index)) >> 10;
}

}  // namespace assay::plan
