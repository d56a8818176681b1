#include "assay/network/cost.hpp"

#include <algorithm>
#include <map>

namespace assay::network {
namespace {

double flops_of(const Node& node, const Shape& input, const Shape& last_input) {
  const auto outputs = static_cast<double>(elements(node.shape));
  switch (node.op) {
    case Op::convolution:
    case Op::convolution3d:
    case Op::dilated_convolution: {
      const auto& weight = node.parameters[0].shape;
      const auto of_an_output = elements(weight) / weight[0];
      return 2 * outputs * static_cast<double>(of_an_output);
    }
    case Op::transposed_convolution:  // each value of the input with its window of the output
      return 2 * static_cast<double>(input[1] * input[2]) * static_cast<double>(elements(node.parameters[0].shape));
    case Op::linear:
    case Op::pairwise_dots:
      return 2 * outputs * static_cast<double>(input.back());
    case Op::lstm:
    case Op::gru: {  // all gates, from the input and from the state, at each position
      const auto weights = elements(node.parameters[0].shape) + elements(node.parameters[1].shape);
      return 2 * static_cast<double>(input[0]) * static_cast<double>(weights);
    }
    case Op::attention:
    case Op::cross_attention:  // scores and weighted values: positions x positions x features each
      return 2 * 2 * outputs * static_cast<double>(last_input[0]);
    default:
      return 0;
  }
}

std::int64_t heavy_operators(const Node& node) {
  switch (node.op) {
    case Op::convolution:
    case Op::convolution3d:
    case Op::dilated_convolution:
    case Op::transposed_convolution:
    case Op::linear:
    case Op::pairwise_dots:
      return 1;
    case Op::attention:
    case Op::cross_attention:
      return 2;
    case Op::lstm:
    case Op::gru:
      return 1 + node.shape[0];
    default:
      return 0;
  }
}

}  // namespace

Cost cost_of(const Graph& graph) {
  struct Seen {
    Shape shape;
    std::int64_t depth;
  };
  std::map<std::string, Seen> seen;
  for (const auto& input : graph.inputs) seen[input.name] = {input.shape, 0};

  Cost cost;
  for (const auto& node : graph.nodes) {
    NodeCost own;
    own.flops = flops_of(node, seen.at(node.inputs.front()).shape, seen.at(node.inputs.back()).shape);
    own.activations = elements(node.shape);
    for (const auto& parameter : node.parameters) own.parameters += elements(parameter.shape);

    const std::int64_t heavy = heavy_operators(node);
    std::int64_t depth = 0;
    for (const auto& name : node.inputs) depth = std::max(depth, seen.at(name).depth);
    depth += heavy;
    cost.width.heavy += heavy;
    cost.width.depth = std::max(cost.width.depth, depth);
    seen[node.name] = {node.shape, depth};

    cost.total.flops += own.flops;
    cost.total.activations += own.activations;
    cost.total.parameters += own.parameters;
    cost.nodes.push_back(own);
  }
  return cost;
}

double step_flops(const Cost& cost, bool trains, std::int64_t batch) {
  return cost.total.flops * static_cast<double>(batch) * (trains ? 3 : 1);
}

std::int64_t bytes_of(const std::string& precision) {
  static const std::map<std::string, std::int64_t> known{
      {"fp64", 8}, {"fp32", 4}, {"bf16", 2}, {"fp16", 2}, {"int8", 1}};
  const auto it = known.find(precision);
  if (it == known.end()) fail(ErrorKind::usage, "{} is not a precision whose size Assay knows", shown(precision));
  return it->second;
}

}  // namespace assay::network
