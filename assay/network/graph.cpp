#include "assay/network/graph.hpp"

#include <fmt/ranges.h>

#include <map>

#include "assay/core/text/hash.hpp"
#include "assay/network/derivation/derive.hpp"

namespace assay::network {
namespace {

constexpr std::size_t kMostNodes = 100'000;
constexpr std::int64_t kMostElements = std::int64_t{1}
                                       << 40;  // of one tensor: sums over a graph stay far from overflow

json without_nulls(const json& value) {
  if (!value.is_structured()) return value;
  json out = value.is_array() ? json::array() : json::object();
  for (const auto& [key, item] : value.items()) {
    if (value.is_array()) {
      out.push_back(without_nulls(item));
    } else if (!item.is_null()) {
      out[key] = without_nulls(item);
    }
  }
  return out;
}

void check_name(const std::string& name) {
  const bool fine = !name.empty() && name.size() <= 200 &&
                    name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") == std::string::npos;
  if (!fine) fail(ErrorKind::bad_input, "{} cannot name a node: use a-z, 0-9, _ and .", shown(name));
  if (name == "loss" || name == "update") {
    fail(ErrorKind::bad_input, "'{}' cannot name a node: workers give the loss and the update these names", name);
  }
}

/// Reads nodes in order; what stands behind a node may use it.
class Deriver {
 public:
  explicit Deriver(Graph& graph) : graph_(graph) {}

  void run() {
    if (graph_.nodes.empty() || graph_.nodes.size() > kMostNodes) {
      fail(ErrorKind::bad_input, "a graph has 1 to {} nodes, not {}", kMostNodes, graph_.nodes.size());
    }
    for (const auto& input : graph_.inputs) {
      if (input.type == InputType::integer && input.below.value_or(0) < 1) {
        fail(ErrorKind::bad_input, "input {}: integers need a bound 'below' of 1 or more", shown(input.name));
      }
      elements(input.shape);
      put(input.name, input.shape, nullptr);
    }
    graph_.parameters = 0;
    for (auto& node : graph_.nodes) {
      std::vector<Shape> inputs;
      for (const auto& name : node.inputs) inputs.push_back(find(name, node).shape);
      const auto& shared = node.attributes.shared;
      derive(node, inputs, shared ? find(*shared, node).node : nullptr);
      for (const auto& parameter : node.parameters) graph_.parameters += elements(parameter.shape);
      put(node.name, node.shape, &node);
    }
    const auto output = known_.find(graph_.output);
    if (output == known_.end() || output->second.node == nullptr) {
      fail(ErrorKind::bad_input, "the graph's output {} is not one of its nodes", shown(graph_.output));
    }
  }

 private:
  struct Known {
    Shape shape;
    const Node* node;
  };

  void put(const std::string& name, const Shape& shape, const Node* node) {
    check_name(name);
    if (!known_.emplace(name, Known{shape, node}).second) {
      fail(ErrorKind::bad_input, "two parts of the graph are called '{}'", name);
    }
  }

  const Known& find(const std::string& name, const Node& node) const {
    const auto it = known_.find(name);
    if (it == known_.end()) {
      fail(ErrorKind::bad_input, "node {} uses {}, which does not come before it", shown(node.name), shown(name));
    }
    return it->second;
  }

  Graph& graph_;
  std::map<std::string, Known> known_;
};

}  // namespace

std::int64_t elements(const Shape& shape) {
  std::int64_t product = 1;
  for (const auto size : shape) {
    if (size < 1 || size > kMostElements / product) {
      fail(ErrorKind::bad_input, "a tensor of [{}] is out of range", fmt::join(shape, ", "));
    }
    product *= size;
  }
  return product;
}

void complete(Graph& graph) {
  Deriver(graph).run();
}

json to_wire(const Graph& graph) {
  // An empty list or object says something, a null does not.
  return without_nulls(to_json(graph));
}

Graph read_graph(const json& wire) {
  auto graph = from_json<Graph>(wire, "graph");
  if (graph.version > kGraphVersion) {
    fail(ErrorKind::bad_input, "the graph has version {}; this Assay knows versions up to {}", graph.version,
         kGraphVersion);
  }
  complete(graph);
  return graph;
}

std::string graph_hash(const Graph& graph) {
  json identity = to_json(graph);
  identity.erase("name");
  identity.erase("parameters");
  for (auto& node : identity["nodes"]) {
    node.erase("shape");
    node.erase("parameters");
  }
  return hash_hex(canonical_json(identity));
}

}  // namespace assay::network
