#pragma once

#include "assay/predict/memory.hpp"
#include "assay/predict/step/step_job.hpp"

namespace assay::predict {

/// What a device holds at the peak of a step. Buffers are what gathers, sums and the framework itself take.
struct StepMemory {
  double state_bytes = 0;  ///< parameters, gradients and the optimizer's
  double activation_bytes = 0;
  double output_bytes = 0;  ///< values of the output layer
  double buffer_bytes = 0;
  double total() const { return state_bytes + activation_bytes + output_bytes + buffer_bytes; }
};

template <typename V>
void describe(V& v, StepMemory& m) {
  required(v, "state_bytes", m.state_bytes);
  required(v, "activation_bytes", m.activation_bytes);
  required(v, "output_bytes", m.output_bytes);
  required(v, "buffer_bytes", m.buffer_bytes);
}

StepMemory step_memory(const StepJob& job);

/// Of one layer and microbatch, without recomputing: s b h (34 + 5 a s / h) bytes for a plain layer with explicit
/// scores and dropout, divided by the tensor group where sequence parallelism spreads the rest.
double layer_activation_bytes(const StepJob& job);

bool fits(const StepMemory& memory, const StepDevice& device);

}  // namespace assay::predict
