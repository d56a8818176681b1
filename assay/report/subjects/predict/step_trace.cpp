#include "assay/report/subjects/predict/step_trace.hpp"

#include <set>
#include <utility>

namespace assay::report {
namespace {

json event_of(const predict::StepNode& node, double begin_seconds) {
  json args = json::object();
  if (node.layers > 0) args["layers"] = node.layers;
  if (node.microbatch >= 0) args["microbatch"] = node.microbatch;
  const auto name = node.microbatch >= 0 ? fmt::format("{} {}", node.name, node.microbatch) : std::string(node.name);
  return {{"name", name},
          {"cat", name_of(node.stream)},
          {"ph", "X"},
          {"pid", node.stage + 1},
          {"tid", static_cast<int>(node.stream) + 1},
          {"ts", 1e6 * begin_seconds},
          {"dur", 1e6 * node.seconds},
          {"args", std::move(args)}};
}

json metadata_of(const char* what, std::int64_t process, int thread, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

}  // namespace

json step_trace(const std::string& title, const predict::StepGraph& graph, const predict::StepSchedule& schedule) {
  json events = json::array();
  std::set<std::pair<std::int64_t, predict::StepStream>> used;
  for (const auto& node : graph.nodes) used.emplace(node.stage, node.stream);
  for (std::int64_t stage = 0; stage < graph.stages; ++stage) {
    const auto name = graph.stages > 1 ? fmt::format("stage {} of {}", stage + 1, title) : title;
    events.push_back(metadata_of("process_name", stage + 1, 0, name));
  }
  for (const auto& [stage, stream] : used) {
    events.push_back(metadata_of("thread_name", stage + 1, static_cast<int>(stream) + 1, name_of(stream)));
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    events.push_back(event_of(graph.nodes[i], schedule.begin_seconds[i]));
  }
  return {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
}

}  // namespace assay::report
