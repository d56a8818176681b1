#pragma once

#include <vector>

#include "assay/network/graph.hpp"

namespace assay::network {

/// Sets the shape and the parameters of `node` from the shapes of its inputs. Throws Error{bad_input} that names the
/// node where its attributes are missing or do not fit. `shared` is the node that attributes.shared names, or null.
void derive(Node& node, const std::vector<Shape>& inputs, const Node* shared);

}  // namespace assay::network
