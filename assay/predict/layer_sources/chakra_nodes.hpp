#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::predict {

/// What an import needs of a node of a Chakra execution trace.
struct ChakraNode {
  std::int64_t id = 0;
  std::string name;
  std::optional<std::int64_t> parent;      ///< the node that called it: its first control dependency
  std::vector<std::int64_t> dependencies;  ///< on data
  bool is_collective = false;
  bool adds_up = false;  ///< a collective that sums: all-reduce or reduce-scatter
  double collective_bytes = 0;
  double seconds = 0;          ///< of its own, without those it called
  bool on_device = false;      ///< a kernel, and not an operator of the host
  std::int64_t sequence = -1;  ///< autograd's number; -1: none
  std::int64_t scope = 0;      ///< PyTorch's: 1 backward, 7 a user's annotation
  double first_input_bytes = 0;
};

/// Nodes in the order of their numbers, from either encoding: protobuf (a GlobalMetadata and Nodes, each behind its
/// length, as MLCommons' tools write it), or the JSON of PyTorch's ExecutionTraceObserver, with durations where
/// chakra_trace_link has added them. Throws Error{bad_input} for what is neither, has no nodes or more than 4 million.
std::vector<ChakraNode> chakra_nodes(std::string_view trace);

}  // namespace assay::predict
