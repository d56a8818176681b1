#include "assay/predict/simulation/graph_simulation.hpp"

namespace assay::predict {
namespace {

constexpr JsonLimits kGraphLimits{256u << 20, 16, 10'000'000};
constexpr std::int64_t kMostStages = 1000;
constexpr std::int64_t kMostTaskStreams = 100;
constexpr double kMostTaskSeconds = 1e6;
constexpr std::int64_t kMostStageFlows = 1000;

void need(bool holds, const std::string& field, double value, const char* what) {
  if (!holds) fail(ErrorKind::usage, "{} is {}, but must be {}.", field, value, what);
}

void check_task(const GraphRequest& r, std::size_t index) {
  const auto& task = r.tasks[index];
  const auto field = fmt::format("tasks[{}]", index);
  need(task.stage >= 0 && task.stage < r.stages, field + ".stage", static_cast<double>(task.stage),
       "one of the stages");
  need(task.stream >= 0 && task.stream < kMostTaskStreams, field + ".stream", static_cast<double>(task.stream),
       "from 0 to 99");
  need(task.seconds >= 0 && task.seconds <= kMostTaskSeconds, field + ".seconds", task.seconds, "from 0 to 1,000,000");
  for (const auto& wait : task.after) {
    need(wait.task >= 0 && wait.task < static_cast<std::int64_t>(index), field + ".after",
         static_cast<double>(wait.task), "a task before it");
    if (!wait.lag_seconds) continue;
    need(*wait.lag_seconds >= 0 && *wait.lag_seconds <= kMostTaskSeconds, field + ".after.lag_seconds",
         *wait.lag_seconds, "from 0 to 1,000,000");
  }
}

}  // namespace

void check_graph(const GraphRequest& r) {
  need(r.stages >= 1 && r.stages <= kMostStages, "stages", static_cast<double>(r.stages), "from 1 to 1,000");
  for (std::size_t i = 0; i < r.tasks.size(); ++i) check_task(r, i);
  for (const auto& one : r.stragglers) {
    need(one.node >= 0 && one.node < r.stages, "a straggler's stage", static_cast<double>(one.node),
         "one of the stages, from 0");
    need(one.factor >= 1 && one.factor <= 1e6, "a straggler's factor", one.factor, "from 1 to 1,000,000");
  }
  for (const auto& one : r.background) {
    need(one.from >= 0 && one.from < r.stages, "a stage that background comes from", static_cast<double>(one.from),
         "one of the stages, from 0");
    need(one.to >= 0 && one.to < r.stages && one.to != one.from, "a stage that background goes to",
         static_cast<double>(one.to), "another of the stages, from 0");
    const auto flows = one.flows.value_or(0);
    need(flows >= 1 && flows <= kMostStageFlows, "flows of the background", static_cast<double>(flows),
         "from 1 to 1,000");
  }
}

bool is_graph_request(std::string_view text) {
  const auto request = parse_json(text, kGraphLimits);
  return request.is_object() && request.contains("tasks");
}

GraphRequest parse_graph(std::string_view text) {
  auto request = from_json<GraphRequest>(parse_json(text, kGraphLimits), "request");
  check_graph(request);
  return request;
}

GraphAnswer parse_graph_answer(std::string_view text) {
  return from_json<GraphAnswer>(parse_json(text, kGraphLimits), "assay-simulate");
}

}  // namespace assay::predict
