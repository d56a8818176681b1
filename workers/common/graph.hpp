#pragma once

#include <optional>
#include <set>

#include "assay/core/text/json.hpp"
#include "workers/common/values.hpp"

namespace assay::worker {

/// Something the network is given. Shapes of a graph are without the batch.
struct GraphInput {
  std::string name;
  Shape shape;
  std::string type = "real";          ///< or "integer"
  std::optional<std::int64_t> below;  ///< of integers
};

template <typename V>
void describe(V& v, GraphInput& i) {
  required(v, "name", i.name);
  required(v, "shape", i.shape);
  v("type", i.type);
  v("below", i.below);
}

struct GraphParameter {
  std::string name;
  Shape shape;
};

template <typename V>
void describe(V& v, GraphParameter& p) {
  required(v, "name", p.name);
  required(v, "shape", p.shape);
}

struct GraphNode {
  std::string name;
  std::string op;
  std::vector<std::string> inputs;
  json attributes = json::object();
  Shape shape;
  std::vector<GraphParameter> parameters;

  /// An attribute; throws Error{bad_input} that names node and attribute where it is missing or of another type.
  template <typename T>
  T attribute(const char* field) const {
    T value{};
    mapping::Reader{attributes, name}.required(field, value);
    return value;
  }
  /// The same with a value for where it is missing.
  template <typename T>
  T attribute(const char* field, T otherwise) const {
    mapping::Reader{attributes, name}(field, otherwise);
    return otherwise;
  }
};

template <typename V>
void describe(V& v, GraphNode& n) {
  required(v, "name", n.name);
  required(v, "op", n.op);
  required(v, "inputs", n.inputs);
  v("attributes", n.attributes);
  required(v, "shape", n.shape);
  v("parameters", n.parameters);
}

/// A network as it travels in `prepare` (docs/formats/graph.schema.json). Nodes stand in an order in which they can be
/// computed.
struct Graph {
  std::int64_t version = 0;
  std::string name;
  std::vector<GraphInput> inputs;
  std::vector<GraphNode> nodes;
  std::string output;
  std::string loss;
  std::int64_t parameters = 0;
};

template <typename V>
void describe(V& v, Graph& g) {
  required(v, "version", g.version);
  required(v, "name", g.name);
  required(v, "inputs", g.inputs);
  required(v, "nodes", g.nodes);
  required(v, "output", g.output);
  required(v, "loss", g.loss);
  required(v, "parameters", g.parameters);
}

/// Reads a graph. Throws Refused by name where its version, its loss or an operator is not in `operators`.
Graph read_graph(const json& wire, const std::set<std::string>& operators);

}  // namespace assay::worker
