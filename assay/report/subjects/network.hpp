#pragma once

#include <string>
#include <vector>

#include "assay/core/primitive.hpp"
#include "assay/network/cost.hpp"
#include "assay/network/network.hpp"
#include "assay/network/onnx.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// How big the tensors are that a network is shown with.
struct NetworkSize {
  std::int64_t batch = 1;
  std::string precision = "fp32";
};

/// Layers and totals of a network, for a person.
Document network_document(const network::Graph& graph, const NetworkSize& size);

/// The same as JSON, docs/formats/network.schema.json. Its `graph` is what a worker is given.
json network_json(const network::Graph& graph, const NetworkSize& size);

/// An ONNX file: as its graph, or where it has none its matrix products, convolutions and totals.
Document onnx_document(const network::OnnxSummary& summary, const NetworkSize& size);
json onnx_json(const network::OnnxSummary& summary, const NetworkSize& size);

/// Options, FLOPs and least bytes of a primitive. Throws Error{usage} where an option is wrong; so the next.
Document primitive_document(const Primitive& primitive, const Workload& workload);
json primitive_json(const Primitive& primitive, const Workload& workload);

/// Every network in a line.
Document networks_document();
json networks_json();

}  // namespace assay::report
