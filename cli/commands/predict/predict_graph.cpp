#include "cli/commands/predict/predict_graph.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/text/units.hpp"
#include "assay/report/subjects/predict/step_trace.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/simulator.hpp"

namespace assay::cli {
namespace {

predict::TaskPlace task_place(predict::StepStream stream, const predict::JobRow& row) {
  const auto& work = row.work;
  const auto link = [](bool is_across) { return is_across ? predict::TaskPlace::across : predict::TaskPlace::inside; };
  switch (stream) {
    case predict::StepStream::compute:
      return predict::TaskPlace::device;
    case predict::StepStream::sums:
      return link(work.sum_across > 0);
    case predict::StepStream::shards:
      return link(work.shard_rail_bytes_per_second > 0);
    case predict::StepStream::exchange:
      return link(work.exchange_across > 0);
    case predict::StepStream::copies:
      return link(row.job.plan.devices > row.job.device.node_devices);
    case predict::StepStream::gradients:
      return link(work.gradients_across);
  }
  return predict::TaskPlace::device;
}

/// For `assay-simulate`: what is sent shares the links of its stage, inside of a node or across.
predict::GraphRequest graph_request(const predict::StepGraph& graph, const predict::JobRow& row,
                                    const predict::Adversity& adversity) {
  predict::GraphRequest request;
  request.stages = graph.stages;
  request.stragglers = adversity.stragglers;
  request.background = adversity.background;
  for (const auto& node : graph.nodes) {
    predict::SimulatedTask task{
        node.stage, static_cast<std::int64_t>(node.stream), task_place(node.stream, row), node.seconds, {}};
    for (const auto& edge : node.after) {
      const bool is_end = edge.lag_seconds == graph.nodes[edge.node].seconds;
      task.after.push_back(
          {static_cast<std::int64_t>(edge.node), is_end ? std::nullopt : std::optional(edge.lag_seconds)});
    }
    request.tasks.push_back(std::move(task));
  }
  return request;
}

}  // namespace

predict::StepGraph graph_of(const predict::Stack& stack, const predict::JobRow& row) {
  auto graph = step_graph(row.work, row.job.plan, stack.constants(row.device));
  scale(graph, stack.predict(row).factor());
  return graph;
}

void write_step_trace(const std::string& path, const predict::StepGraph& graph, predict::RowsPrediction& said) {
  const auto& row = said.rows.back();
  const auto made = schedule(graph);
  const auto title = fmt::format("{} on {} devices", row.model, row.devices);
  write_output(path, report::step_trace(title, graph, made).dump() + "\n");
  if (std::abs(made.seconds / row.seconds - 1) > .01) {
    said.notes.push_back(
        fmt::format("The schedule in {} takes {}: there are too few microbatches to fill the stages as the law has it.",
                    shown_path(path), format_seconds(made.seconds)));
  }
}

void simulate_rows(const predict::Stack& stack, const predict::JobRows& jobs, const predict::Adversity& adversity,
                   predict::RowsPrediction& said) {
  for (std::size_t i = 0; i < jobs.rows.size(); ++i) {
    const auto request = graph_request(graph_of(stack, jobs.rows[i]), jobs.rows[i], adversity);
    const bool is_across = std::any_of(request.tasks.begin(), request.tasks.end(),
                                       [](const auto& task) { return task.place == predict::TaskPlace::across; });
    if (!adversity.background.empty() && !is_across) {
      fail(ErrorKind::usage, "--background changes nothing here: {} devices send nothing to other nodes. Leave it out.",
           said.rows[i].devices);
    }
    said.rows[i].simulated_seconds = simulate_step(request).seconds;
  }
  said.notes.emplace_back(
      "Simulated: the graph of the step, in which all that a stage sends at once shares its links; docs/predict.md.");
}

predict::ScalingPrediction kept_form(const predict::RowsPrediction& said, const predict::JobRows& jobs,
                                     const std::string& machine, std::int64_t global_batch) {
  predict::ScalingPrediction kept;
  kept.network = said.rows.front().model;
  kept.precision = name_of(jobs.rows.front().job.plan.precision);
  kept.cluster = machine;
  kept.origin = said.calibrated_rows > 0 ? predict::Origin::measured : predict::Origin::assumed;
  kept.range = said.calibrated_rows > 0 ? predict::RangeKind::interval : predict::RangeKind::what_if;
  kept.scaling = predict::Scaling::strong;
  for (std::size_t i = 0; i < said.rows.size(); ++i) {
    const auto& row = said.rows[i];
    if (global_batch % row.devices != 0) {
      fail(ErrorKind::usage,
           "--store: {} sequences of --global-batch are not a whole number for each of {} devices, by which --score "
           "finds "
           "what was measured. Leave out --store, or change one of them.",
           global_batch, row.devices);
    }
    predict::ScalePoint point;
    point.devices = row.devices;
    const auto of_node = jobs.rows[i].job.device.node_devices;
    point.nodes = (row.devices + of_node - 1) / of_node;
    point.batch = global_batch / row.devices;
    point.step.seconds = row.seconds;
    point.low_seconds = row.low_seconds;
    point.high_seconds = row.high_seconds;
    point.samples_per_second = static_cast<double>(global_batch) / row.seconds;
    point.limit = row.limit == predict::StepLimit::communication ? predict::ScaleLimit::communication
                                                                 : predict::ScaleLimit::compute;
    point.memory.activation_bytes = row.memory_bytes - row.memory.state_bytes;
    point.memory.optimizer_bytes = row.memory.state_bytes;
    point.fits = row.fits;
    kept.points.push_back(point);
  }
  return kept;
}

}  // namespace assay::cli
