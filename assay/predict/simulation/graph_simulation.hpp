#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "assay/predict/simulation/simulation.hpp"

// What `assay-simulate` is asked of the graph of a step, and what it answers. No SimGrid in here.

namespace assay::predict {

/// What a task occupies: the device alone, or a link of its stage that all tasks on it share.
enum class TaskPlace {
  device,
  inside,  ///< links of the node
  across,  ///< to other nodes
};

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::TaskPlace> {
  static constexpr std::array<const char*, 3> names{"device", "inside", "across"};
};

namespace assay::predict {

/// The task begins when another has ended or, where `lag_seconds` is there, so long after the other has begun.
struct TaskWait {
  std::int64_t task = 0;
  std::optional<double> lag_seconds;
};

template <typename V>
void describe(V& v, TaskWait& w) {
  required(v, "task", w.task);
  v("lag_seconds", w.lag_seconds);
}

struct SimulatedTask {
  std::int64_t stage = 0;
  std::int64_t stream = 0;  ///< of the stage; a stream runs its tasks in the order in which they are listed
  TaskPlace place = TaskPlace::device;
  double seconds = 0;  ///< where it has its place for itself
  std::vector<TaskWait> after;
};

template <typename V>
void describe(V& v, SimulatedTask& t) {
  required(v, "stage", t.stage);
  required(v, "stream", t.stream);
  required(v, "place", t.place);
  required(v, "seconds", t.seconds);
  v("after", t.after);
}

struct GraphRequest {
  std::int64_t stages = 1;
  std::vector<SimulatedTask> tasks;             ///< each after those that it waits for
  std::vector<SimulatedStraggler> stragglers;   ///< node: a stage, whose devices compute slower
  std::vector<SimulatedBackground> background;  ///< from the links of a stage to those of another; flows alone
};

template <typename V>
void describe(V& v, GraphRequest& r) {
  required(v, "stages", r.stages);
  required(v, "tasks", r.tasks);
  v("stragglers", r.stragglers);
  v("background", r.background);
}

struct GraphAnswer {
  double seconds = 0;      ///< until the last task ends
  std::int64_t flows = 0;  ///< tasks that were simulated on links
  double wall_seconds = 0;
};

template <typename V>
void describe(V& v, GraphAnswer& a) {
  required(v, "seconds", a.seconds);
  required(v, "flows", a.flows);
  required(v, "wall_seconds", a.wall_seconds);
}

/// Throws Error{usage} that names the first value that is out of range.
void check_graph(const GraphRequest& request);

/// Whether a request is one of a graph. Throws Error{bad_input} for what is not JSON.
bool is_graph_request(std::string_view text);

/// Reads a request and checks it. Throws Error{bad_input} for what is not a request.
GraphRequest parse_graph(std::string_view text);

/// Reads an answer. Throws Error{bad_input}.
GraphAnswer parse_graph_answer(std::string_view text);

}  // namespace assay::predict
