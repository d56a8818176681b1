#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "assay/core/record.hpp"

namespace assay::stats {

/// Which samples of a run are the steady state, and how it was reached.
struct SteadyState {
  SteadyKind kind = SteadyKind::flat;
  std::size_t from = 0;  ///< first sample of the steady state; 0 where there is none: nothing is cut off then
};

/// Null where there are too few samples to tell. Mean and variance are cut into segments by PELT, after outliers have
/// been left out; the state is steady where every segment in the last third is within the noise of the last one.
std::optional<SteadyState> steady_state(const std::vector<double>& samples_ns);

/// Whether a run still gets faster: its last segment is its fastest and began only in the last third.
bool still_warming(const std::vector<double>& samples_ns);

}  // namespace assay::stats
