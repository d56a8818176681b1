#pragma once

#include <vector>

#include "assay/core/record.hpp"
#include "assay/core/trial.hpp"

namespace assay::measure {

/// What the samples of a run say together.
struct Summarised {
  Summary summary;
  std::optional<Steady> steady;  ///< null where there are too few samples to tell
};

/// Figures of a run from the samples of all its processes, from the steady state on: after the warm-up that was asked
/// for and, where one is found, behind the longer one that was seen. Where there is no steady state nothing more is cut
/// off. Throughput of several instances counts only the time in which all of them run.
Summarised summarise(const std::vector<RankResult>& ranks, const Trial& trial);

/// The samples of all processes that such figures rest on, sorted, in nanoseconds.
std::vector<double> steady_samples(const std::vector<RankResult>& ranks, const Trial& trial);

/// The same of first tokens: for each of those steps, until all its sequences have one. Empty where nothing is
/// generated.
std::vector<double> steady_first_tokens(const std::vector<RankResult>& ranks, const Trial& trial);

}  // namespace assay::measure
