#pragma once

#include <optional>

#include "assay/core/workload.hpp"

namespace assay::network {

/// What one step of a workload, on one process, must do at least.
struct StepCost {
  double flops = 0;                   ///< a multiply and an add are two; only those of products and of triad
  std::optional<double> least_bytes;  ///< that cross the memory bus once caches are perfect; null where not known
};

/// Of a primitive, of a network of Assay's, or of a user's ONNX file where it still is the one that was measured. Null
/// where nothing tells: another file of a user's, a command, a collective, or a network that is another one in this
/// release.
std::optional<StepCost> step_cost(const Workload& workload);

/// FLOPs of reading all prompts of a workload that generates with one of the named shapes: of every product, and of the
/// output for the last token of each alone. Null where the shape is not known: another model, or a file.
std::optional<double> prefill_flops(const Workload& workload);

}  // namespace assay::network
