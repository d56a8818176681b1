#pragma once

#include "assay/network/graph.hpp"
#include "assay/network/onnx/values.hpp"

namespace assay::network::onnx {

/// The model as a graph of Assay's. Throws Error{bad_input} that names the first node without a counterpart.
Graph to_graph(const Model& model, const Values& values);

}  // namespace assay::network::onnx
