#include "assay/report/subjects/layers/layers.hpp"

#include <algorithm>
#include <map>

#include "assay/core/text/units.hpp"
#include "assay/core/workloads/learning.hpp"
#include "assay/network/cost.hpp"
#include "assay/network/network.hpp"
#include "assay/report/table.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::report {
namespace {

using Align = Table::Align;

double total_ns(const NodeTime& layer) {
  return layer.forward_ns + layer.backward_ns;
}

/// What the graph says of a node.
struct Known {
  std::string op;
  double flops = 0;  ///< of a whole step, backward included
};

std::map<std::string, Known> known_nodes(const Workload& workload) {
  std::map<std::string, Known> known;
  if (!workload.graph || !network::is_network(workload.network)) return known;
  const auto graph = network::build(workload.network, options_of_network(workload));
  if (network::graph_hash(graph) != *workload.graph) return known;  // another release's
  const auto cost = network::cost_of(graph);
  const double times = static_cast<double>(workload.batch) * (workload.mode == Mode::train ? 3 : 1);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    known[graph.nodes[i].name] = {name_of(graph.nodes[i].op), cost.nodes[i].flops * times};
  }
  return known;
}

std::string rate_text(double flops, double ns) {
  return flops > 0 && ns > 0 ? fmt::format("{:.1f}", flops / ns) : "-";
}

}  // namespace

void LayerTimes::add(const Record& record) {
  if (record.outcome.kind != OutcomeKind::ok) return;
  const auto median = [](const std::vector<std::int64_t>& values) {
    return values.empty() ? 0 : stats::median({values.begin(), values.end()});
  };
  for (const auto& rank : record.ranks) {
    for (std::size_t i = 0; i < rank.layers.size(); ++i) {
      if (layers_.size() <= i) layers_.push_back({rank.layers[i].node, {}, {}});
      if (layers_[i].node != rank.layers[i].node) return;  // another order: not to be mixed
      layers_[i].forward_ns.push_back(median(rank.layers[i].forward_ns));
      layers_[i].backward_ns.push_back(median(rank.layers[i].backward_ns));
    }
  }
}

std::vector<NodeTime> LayerTimes::times() const {
  std::vector<NodeTime> times;
  for (const auto& layer : layers_) {
    times.push_back({layer.node, stats::median(layer.forward_ns), stats::median(layer.backward_ns)});
  }
  return times;
}

Document layers_document(const Workload& workload, const std::vector<NodeTime>& layers, std::size_t most) {
  auto sorted = layers;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return total_ns(a) > total_ns(b); });
  double sum = 0;
  for (const auto& layer : sorted) sum += total_ns(layer);
  const auto known = known_nodes(workload);
  Table table({{"layer"},
               {"operator"},
               {"forward", Align::right},
               {"backward", Align::right},
               {"share", Align::right},
               {"GFLOP/s", Align::right}});
  double others = sum;
  for (std::size_t i = 0; i < std::min(most, sorted.size()); ++i) {
    const auto& layer = sorted[i];
    const auto it = known.find(layer.node);
    others -= total_ns(layer);
    table.add({layer.node, it == known.end() ? "" : it->second.op, format_duration(layer.forward_ns),
               layer.backward_ns > 0 ? format_duration(layer.backward_ns) : "-",
               fmt::format("{:.1f} %", sum > 0 ? 100 * total_ns(layer) / sum : 0),
               it == known.end() ? "-" : rate_text(it->second.flops, total_ns(layer))});
  }
  Document out;
  out.add(std::move(table));
  if (sorted.size() > most) {
    out.paragraph(fmt::format("{} other layers take {} ({:.1f} %)", sorted.size() - most, format_duration(others),
                              sum > 0 ? 100 * others / sum : 0));
  }
  return out;
}

}  // namespace assay::report
