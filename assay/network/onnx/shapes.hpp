#pragma once

#include <optional>
#include <vector>

#include "assay/network/onnx/values.hpp"

namespace assay::network::onnx {

/// Shapes of the node's outputs from its inputs, of which each has a shape or is left out (null). Nothing where the
/// operator is not known here, or what it needs to know is computed only when the network runs. Throws Error{bad_input}
/// where the inputs do not fit each other.
std::optional<std::vector<Shape>> output_shapes(const Node& node, const std::vector<const Value*>& inputs);

/// The values of a node's output where they are small integers that follow from constants and shapes.
std::optional<std::vector<std::int64_t>> output_integers(const Node& node, const std::vector<const Value*>& inputs);

}  // namespace assay::network::onnx
