#pragma once

#include "assay/predict/step/stack.hpp"
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

/// The same of a job, with the constants of a stack and the factor of its measured jobs: it takes as long as the stack
/// says of that many microbatches.
StepDrawing step_drawing(const Stack& stack, const JobRow& row);

}  // namespace assay::predict
