#pragma once

#include "assay/predict/step/step_graph.hpp"

namespace assay::predict {

/// A step as it can be drawn: with fewer microbatches where all of them would be bars too narrow to see.
struct StepDrawing {
  StepGraph graph;
  StepSchedule schedule;
  std::int64_t microbatches = 1;       ///< that are drawn
  std::int64_t step_microbatches = 1;  ///< that the step has
};

/// The graph of a step, with every time `factor` times as long, as far as it is drawn: a stage makes no more than 64
/// passes, or those of as many microbatches as there are stages. Throws what step_graph() throws of interleaved stages.
StepDrawing step_drawing(const StepWork& work, const StepPlan& plan, const StepConstants& constants, double factor);

}  // namespace assay::predict
