#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/network/graph.hpp"

namespace assay::network {

/// What one node costs for one sample.
struct NodeCost {
  double flops = 0;              ///< forward; a multiply and an add are two
  std::int64_t activations = 0;  ///< values of its output
  std::int64_t parameters = 0;   ///< trainable values, each with one gradient
};

/// The shape of a network's parallelism, after collapsing it to heavy operators: convolution and linear are one each,
/// attention is two matrix products one after the other, a recurrent layer one for its input and one for each position.
struct Width {
  std::int64_t heavy = 0;
  std::int64_t depth = 0;  ///< the longest chain of heavy operators
  double value() const { return depth == 0 ? 0 : static_cast<double>(heavy) / static_cast<double>(depth); }
};

struct Cost {
  std::vector<NodeCost> nodes;  ///< in the order of the graph
  NodeCost total;
  Width width;
};

/// From the graph alone. FLOPs are those of convolutions, linear and recurrent layers and attention; a causal attention
/// counts in full.
Cost cost_of(const Graph& graph);

/// FLOPs of one step of `batch` samples; training is three times inference.
double step_flops(const Cost& cost, bool trains, std::int64_t batch);

/// Bytes of one value at a precision (fp32, bf16, fp16, fp64, int8). Throws Error{usage} for another.
std::int64_t bytes_of(const std::string& precision);

}  // namespace assay::network
