#pragma once

#include "assay/predict/step/step_job.hpp"

namespace assay::predict {

/// What every predicted step has that a command does not state: mixed precision with Adam and flash attention, and
/// gradients that are summed in 4 bytes under the backward pass, as Megatron and torchtitan do.
inline StepPlan usual_practice() {
  StepPlan practice;
  practice.overlapped_gradients = true;
  practice.gradient_bytes = 4;
  return practice;
}

/// Whether the output layer takes a place of its own in its stage: layers and two more places (the embedding's and the
/// output's) fill the parts of all stages evenly, and layers alone do not.
inline bool output_takes_a_place(const ModelShape& model, std::int64_t pipeline, std::int64_t interleaving) {
  constexpr std::int64_t kOtherPlaces = 2;
  const auto parts = pipeline * interleaving;
  return pipeline > 1 && model.layers % parts != 0 && (model.layers + kOtherPlaces) % parts == 0;
}

}  // namespace assay::predict
