#pragma once

#include <cstdint>
#include <vector>

#include "assay/predict/step/step_job.hpp"

namespace assay::predict {

enum class PassKind {
  forward,
  backward,  ///< of activations and weights, or of activations alone where weights have a pass of their own
  weights,   ///< gradients of weights (zero_bubble)
};

/// A pass of one microbatch through the layers that one part of a stage has.
struct Pass {
  PassKind kind = PassKind::forward;
  std::int64_t microbatch = 0;
  std::int64_t part = 0;

  bool operator==(const Pass&) const = default;
};

/// The passes of a stage in the order in which it makes them: 1F1B (arXiv 2006.09503), interleaved where a stage has
/// several parts (arXiv 2104.04473), or ZB-H1 (arXiv 2401.10241), in which stage s makes the pass of weights of a
/// microbatch s microbatches later.
std::vector<Pass> pipeline_order(PipelineSchedule schedule, std::int64_t stage, std::int64_t stages,
                                 std::int64_t microbatches, std::int64_t parts);

}  // namespace assay::predict
