#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/trial.hpp"

namespace assay::plan {

class Catalog;

/// A named set of trials, each with the number of runs wanted: what a spec file or a command line expands to.
struct Campaign {
  std::string name;
  std::int64_t seed = 1;
  std::int64_t runs = 10;  ///< of every trial
  /// Of each trial, in their order, where they differ: a sequential measurement asks for more where it is not sure yet.
  std::vector<std::int64_t> runs_of_trial;
  /// Where set, trials join as a planner asks for them, and this text stands for them in the campaign's identity.
  std::optional<std::string> grows;
  bool lockstep = false;  ///< two trials or more; runs i of all are one group, alive at once
  Measure measure;
  std::vector<Trial> trials;  ///< distinct, in the order written
};

/// Throws Error{usage} naming the field that is out of range, a lock-step of a single trial, or phases or layers
/// that a worker cannot measure. The trials themselves are checked where they are expanded.
void check(const Campaign& campaign, const Catalog& catalog);

/// Identity of a campaign's round: the same command is the same campaign. The number of runs is no part of it, so that
/// asking for more runs extends a campaign instead of starting another.
std::string campaign_id(const Campaign& campaign, std::int64_t round);

/// Position of a run inside its block. Runs are taken by (index, run_order): randomised complete blocks.
/// All of a group share the order of the first trial.
std::int64_t run_order(std::int64_t seed, const std::string& trial_id, std::int64_t index);

/// Seed that a worker gets: a function of campaign seed, trial and index, the same at every attempt.
std::int64_t run_seed(std::int64_t seed, const std::string& trial_id, std::int64_t index);

}  // namespace assay::plan
