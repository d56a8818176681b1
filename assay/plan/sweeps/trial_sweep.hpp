#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/plan/catalog/catalog.hpp"
#include "assay/plan/sweeps/axis.hpp"

namespace assay::plan {

/// A set of trials as the user wrote it: lists of values, of which every combination is a trial. An entry of a spec
/// file and a command line both fill one.
struct TrialSweep {
  std::string place;  ///< "file.yaml:3:5" in front of messages, or empty
  std::map<AxisName, std::vector<Written>> values;
  std::optional<std::vector<std::string>>
      command;  ///< one argv, not a sweep; {batch} and the like are left as they are

  std::vector<Written> threads = {};  ///< numbers of threads, whatever each worker calls them; see threads.hpp

  /// Adds a value to the axis of that name ("batch", "settings.env.NAME"); Error{usage} where there is none.
  void add(const std::string& axis, Written written);
};

/// What a campaign may grow to. Checked before anything is expanded.
struct SweepLimits {
  std::int64_t trials = 100'000;
  std::int64_t runs = 10'000'000;
  std::int64_t text_bytes = 64 << 20;  ///< commands, options and variables of all trials together
};

/// All trials of `sweeps`, distinct, in a stable order: sweep by sweep; within one as axes() nests them, values in the
/// order written. The order of the keys or flags does not matter. Each trial is checked, its worker found in `catalog`
/// with the release filled in, and supported by it. `runs` of each trial count for the limit.
/// Throws Error{usage} with the place, the value and the fix.
std::vector<Trial> expand(const std::vector<TrialSweep>& sweeps, std::int64_t runs, const Catalog& catalog,
                          const SweepLimits& limits = {});

}  // namespace assay::plan
