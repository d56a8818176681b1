#include "assay/predict/step/step_graph.hpp"

#include <algorithm>

#include "assay/core/error.hpp"

namespace assay::predict {

StepSchedule schedule(const StepGraph& graph) {
  StepSchedule s;
  s.begin_seconds.reserve(graph.nodes.size());
  std::vector<double> free_seconds(static_cast<std::size_t>(graph.stages) * kStepStreams, 0.0);
  for (const auto& node : graph.nodes) {
    auto& free =
        free_seconds[static_cast<std::size_t>(node.stage) * kStepStreams + static_cast<std::size_t>(node.stream)];
    double begin = free;
    for (const auto& edge : node.after) {
      ASSAY_CHECK(edge.node < s.begin_seconds.size());
      begin = std::max(begin, s.begin_seconds[edge.node] + edge.lag_seconds);
    }
    s.begin_seconds.push_back(begin);
    free = begin + node.seconds;
    s.seconds = std::max(s.seconds, free);
  }
  return s;
}

void scale(StepGraph& graph, double factor) {
  for (auto& node : graph.nodes) {
    node.seconds *= factor;
    for (auto& edge : node.after) edge.lag_seconds *= factor;
  }
}

}  // namespace assay::predict
