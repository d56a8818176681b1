#include "assay/predict/threads/operator_times.hpp"

#include "assay/core/error.hpp"
#include "assay/network/cost.hpp"

namespace assay::predict {

OperatorTimes operator_times(const network::Graph& graph, const std::map<std::string, double>& node_seconds,
                             double step_seconds) {
  const auto cost = network::cost_of(graph);
  OperatorTimes times;
  std::map<std::string, std::size_t> places;
  double sum = 0;
  double timed = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto& node = graph.nodes[i];
    OperatorTime op{node.name, cost.nodes[i].flops > 0, 0, {}};
    if (const auto found = node_seconds.find(node.name); found != node_seconds.end()) op.seconds = found->second;
    for (const auto& input : node.inputs) {
      const auto before = places.find(input);
      if (before == places.end()) continue;  // an input of the graph
      op.after.push_back(before->second);
      const auto& joined = times.operators[before->second];
      op.heavy = op.heavy || (joined.seconds == 0 && joined.heavy);
    }
    sum += op.seconds;
    timed += op.seconds > 0 ? 1 : 0;
    places[node.name] = i;
    times.operators.push_back(std::move(op));
  }
  if (!(sum > 0)) {
    fail(ErrorKind::usage, "no layer of {} took any time: measure it again, for longer with --seconds.", graph.name);
  }
  if (sum <= step_seconds) {
    times.dispatch_seconds = (step_seconds - sum) / timed;
  } else {
    for (auto& op : times.operators) op.seconds *= step_seconds / sum;
  }
  return times;
}

}  // namespace assay::predict
