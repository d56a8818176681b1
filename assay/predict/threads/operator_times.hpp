#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/network/graph.hpp"
#include "assay/predict/threads/operator_schedule.hpp"

namespace assay::predict {

/// A step of a network with one pool, operator by operator.
struct OperatorTimes {
  std::vector<OperatorTime> operators;  ///< as many as the graph has nodes, in their order
  double dispatch_seconds = 0;          ///< before each of those that took time: what the step took beyond their sum
};

/// From what each node took in a step of `step_seconds`; where their sum is longer, timing them took time of its own,
/// and they are scaled to the step. A node that took none was joined with those that need its output: these are heavy
/// where it is. Throws Error{usage} where no node took any time.
OperatorTimes operator_times(const network::Graph& graph, const std::map<std::string, double>& node_seconds,
                             double step_seconds);

}  // namespace assay::predict
