#include "assay/predict/step/step_drawing.hpp"

#include <algorithm>
#include <cmath>

namespace assay::predict {
namespace {

constexpr std::int64_t kMostPassesOfAStage = 64;
constexpr std::int64_t kMostNodesOfOneStage = 1024;  // layers are apart up to these

/// Forward and backward; zero-bubble schedules have a pass of weights apart, and no parts.
std::int64_t passes_of_a_microbatch(const StepPlan& plan) {
  if (plan.pipeline == 1) return 2;
  return plan.schedule == PipelineSchedule::zero_bubble ? 3 : 2 * plan.interleaving;
}

/// A multiple of the stages, so that the schedule is filled and interleaved stages divide them.
std::int64_t drawn_microbatches(std::int64_t all, std::int64_t stages, std::int64_t passes) {
  const auto most = kMostPassesOfAStage / passes / stages * stages;
  return std::min(all, std::max(most, stages));
}

}  // namespace

StepDrawing step_drawing(const StepWork& work, const StepPlan& plan, const StepConstants& constants, double factor) {
  StepDrawing drawing;
  const auto passes = passes_of_a_microbatch(plan);
  drawing.step_microbatches = std::max<std::int64_t>(1, std::llround(work.microbatches));
  drawing.microbatches = drawn_microbatches(drawing.step_microbatches, plan.pipeline, passes);
  auto drawn = work;
  if (drawing.microbatches < drawing.step_microbatches) drawn.microbatches = static_cast<double>(drawing.microbatches);
  // A pass of one of several stages is one bar for each stream.
  const auto nodes = plan.pipeline == 1 ? kMostNodesOfOneStage : plan.pipeline * passes * drawing.microbatches;
  drawing.graph = step_graph(drawn, plan, constants, static_cast<std::size_t>(nodes));
  scale(drawing.graph, factor);
  drawing.schedule = schedule(drawing.graph);
  return drawing;
}

StepDrawing step_drawing(const Stack& stack, const JobRow& row) {
  return step_drawing(row.work, row.job.plan, stack.constants(row.device), stack.predict(row).factor());
}

}  // namespace assay::predict
