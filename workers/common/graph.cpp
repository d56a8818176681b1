#include "workers/common/graph.hpp"

#include "workers/common/worker.hpp"

namespace assay::worker {
namespace {

constexpr std::int64_t kGraphVersion = 1;

}  // namespace

Graph read_graph(const json& wire, const std::set<std::string>& operators) {
  auto graph = from_json<Graph>(wire, "graph");
  if (graph.version != kGraphVersion) {
    refuse("graph version {}: this worker reads version {}.", graph.version, kGraphVersion);
  }
  if (graph.loss != "cross_entropy" && graph.loss != "mean_square") {
    refuse("loss {} is unknown here. There is cross_entropy, mean_square.", shown(graph.loss));
  }
  for (const auto& node : graph.nodes) {
    if (operators.count(node.op) == 0) {
      refuse("operator {} (node {}) is unknown here.", shown(node.op), shown(node.name));
    }
  }
  return graph;
}

}  // namespace assay::worker
