#pragma once

#include <string>
#include <string_view>

#include "assay/predict/layers.hpp"

namespace assay::predict {

/// A layer table from a Chakra execution trace of one training step, in protobuf or JSON (chakra_nodes.hpp).
///
/// A layer is a node that no other called, with what it called. It belongs to the backward pass where PyTorch says so
/// (scope 1, evaluate_function), or its name has "backward" or "bwd" in it. It is joined with the layer of the forward
/// pass by autograd's sequence number; else by name, without "COMP_NODE_" and endings such as _FWD and _BWD_WG; else it
/// goes to the layer that was joined before it. Where kernels of a device are in the trace, their times count in place
/// of the host's. What runs below "Optimizer." is the update. Gradients are those that autograd accumulated; where it
/// shows none, the sizes of collectives that sum, at the layer whose backward pass they wait for.
///
/// Throws Error{bad_input} for what is no such trace, and where durations, a backward pass or gradients are missing.
LayerTable import_chakra(std::string_view trace, const std::string& name, std::int64_t batch);

}  // namespace assay::predict
