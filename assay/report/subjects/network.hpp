#pragma once

#include <string>
#include <vector>

#include "assay/core/primitive.hpp"
#include "assay/network/cost.hpp"
#include "assay/network/network.hpp"
#include "assay/network/onnx.hpp"

namespace assay::report {

/// How big the tensors are that a network is shown with.
struct NetworkSize {
  std::int64_t batch = 1;
  std::string precision = "fp32";
};

/// Layers and totals of a network, for a person.
std::string network_report(const network::Graph& graph, const NetworkSize& size, std::size_t width);

/// The same as a document, docs/formats/network.schema.json. Its `graph` is what a worker is given.
json network_json(const network::Graph& graph, const NetworkSize& size);

/// An ONNX file: as its graph, or where it has none its matrix products, convolutions and totals.
std::string onnx_report(const network::OnnxSummary& summary, const NetworkSize& size, std::size_t width);
json onnx_json(const network::OnnxSummary& summary, const NetworkSize& size);

/// Options, FLOPs and least bytes of a primitive. Throws Error{usage} where an option is wrong; so the next.
std::string primitive_report(const Primitive& primitive, const Workload& workload);
json primitive_json(const Primitive& primitive, const Workload& workload);

/// Every network in a line.
std::string networks_report(std::size_t width);
json networks_json();

}  // namespace assay::report
