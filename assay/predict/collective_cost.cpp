#include "assay/predict/collective_cost.hpp"

#include <algorithm>
#include <bit>

#include "assay/model/links/collective.hpp"

namespace assay::predict {
namespace {

using model::Collective;
using model::CollectiveAlgorithm;

bool is_power_of_two(std::int64_t value) {
  return std::has_single_bit(static_cast<std::uint64_t>(value));
}

/// The slower of the two in every respect: what a step of all devices waits for.
Wire slower(const Wire& a, const Wire& b) {
  return {std::max(a.latency_seconds, b.latency_seconds), std::min(a.bytes_per_second, b.bytes_per_second)};
}

AffineCost affine(AllReduce name, Collective collective, CollectiveAlgorithm algorithm, const Wire& wire,
                  std::int64_t ranks) {
  const auto use = model::link_use(collective, algorithm, ranks);
  return {name, use.alpha_times * wire.latency_seconds, use.beta_times / wire.bytes_per_second};
}

/// A link whose rate a token bucket limits carries nothing during a message's latency, and lets as much pass at once
/// afterwards, up to the burst: a message takes the longer of latency and bytes / rate, not their sum. So does a pause
/// between calls. The messages of a ring are all alike.
void save_up(const Cluster& cluster, AffineCost& ring) {
  if (!cluster.across_burst_bytes || cluster.devices_per_node > 1) return;
  const auto& wire = *cluster.across;
  const double in_latency = wire.latency_seconds * wire.bytes_per_second;
  ring.free_bytes = static_cast<double>(cluster.nodes) * std::min(in_latency, *cluster.across_burst_bytes);
  ring.burst_seconds = *cluster.across_burst_bytes / wire.bytes_per_second;
}

/// Partners at distances of a leaf and more all cross the tree at once, each with its share of the links upwards.
Wire across_leaves(const Cluster& cluster) {
  auto wire = *cluster.across;
  const auto& topology = cluster.topology;
  if (topology.kind == TopologyKind::fat_tree && cluster.nodes > topology.nodes_per_leaf) {
    wire.bytes_per_second /= topology.oversubscription;
  }
  return wire;
}

/// Halving and doubling between nodes: the exchange of half the bytes is with the furthest partner in this order, so
/// that those within a leaf are small. Distances of nodes_per_leaf and more pay for the oversubscription.
AffineCost halving_doubling_across(AllReduce name, const Cluster& cluster) {
  const auto& wire = *cluster.across;
  const auto far = across_leaves(cluster);
  AffineCost cost{name, 0, 0};
  double share = 0.5;
  for (auto distance = cluster.nodes / 2; distance >= 1; distance /= 2) {
    const bool leaves = cluster.topology.kind == TopologyKind::star || distance >= cluster.topology.nodes_per_leaf;
    const auto& used = leaves ? far : wire;
    cost.call_seconds += 2 * used.latency_seconds;
    cost.byte_seconds += 2 * share / used.bytes_per_second;
    share /= 2;
  }
  return cost;
}

/// Scatter and gather inside of a node around what is done across.
AffineCost hierarchical(AffineCost across, const Cluster& cluster) {
  const auto devices = cluster.devices_per_node;
  if (devices == 1) return across;
  const auto scatter =
      affine(across.algorithm, Collective::reduce_scatter, CollectiveAlgorithm::ring, *cluster.inside, devices);
  const auto gather =
      affine(across.algorithm, Collective::all_gather, CollectiveAlgorithm::ring, *cluster.inside, devices);
  // Each device sends its share; where they share one link, that link carries all shares.
  const double share = cluster.across_per == Sharing::device ? 1.0 / static_cast<double>(devices) : 1.0;
  across.call_seconds += scatter.call_seconds + gather.call_seconds;
  across.byte_seconds = across.byte_seconds * share + scatter.byte_seconds + gather.byte_seconds;
  return across;
}

std::vector<AffineCost> inside_a_node(const Cluster& cluster) {
  const auto& wire = *cluster.inside;
  const auto ranks = cluster.devices_per_node;
  std::vector<AffineCost> costs{
      affine(AllReduce::ring, Collective::all_reduce, CollectiveAlgorithm::ring, wire, ranks),
      affine(AllReduce::binary_tree, Collective::all_reduce, CollectiveAlgorithm::binary_tree, wire, ranks),
      affine(AllReduce::double_tree, Collective::all_reduce, CollectiveAlgorithm::double_tree, wire, ranks)};
  if (is_power_of_two(ranks)) {
    costs.push_back(affine(AllReduce::halving_doubling, Collective::all_reduce, CollectiveAlgorithm::halving_doubling,
                           wire, ranks));
  }
  return costs;
}

std::vector<AffineCost> across_nodes(const Cluster& cluster) {
  const auto& wire = *cluster.across;
  const auto tree_wire = across_leaves(cluster);
  const auto each = cluster.inside ? slower(*cluster.inside, wire) : wire;
  std::vector<AffineCost> costs{
      affine(AllReduce::ring, Collective::all_reduce, CollectiveAlgorithm::ring, each, cluster.devices()),
      hierarchical(
          affine(AllReduce::hierarchical_ring, Collective::all_reduce, CollectiveAlgorithm::ring, wire, cluster.nodes),
          cluster),
      hierarchical(affine(AllReduce::hierarchical_double_tree, Collective::all_reduce, CollectiveAlgorithm::double_tree,
                          tree_wire, cluster.nodes),
                   cluster)};
  save_up(cluster, costs.front());
  if (is_power_of_two(cluster.nodes)) {
    costs.push_back(hierarchical(halving_doubling_across(AllReduce::hierarchical_halving_doubling, cluster), cluster));
  }
  if (cluster.devices_per_node > 1) return costs;
  // With one device in each node there is one level, and the names say so.
  std::erase_if(costs, [](const auto& one) { return one.algorithm == AllReduce::hierarchical_ring; });
  for (auto& one : costs) {
    if (one.algorithm == AllReduce::hierarchical_double_tree) one.algorithm = AllReduce::double_tree;
    if (one.algorithm == AllReduce::hierarchical_halving_doubling) one.algorithm = AllReduce::halving_doubling;
  }
  costs.push_back(affine(AllReduce::binary_tree, Collective::all_reduce, CollectiveAlgorithm::binary_tree, tree_wire,
                         cluster.nodes));
  return costs;
}

}  // namespace

double server_traffic(const ParameterServers& servers, std::int64_t nodes) {
  const auto count = servers.count.value_or(nodes);
  const auto n = static_cast<double>(nodes);
  const auto s = static_cast<double>(count);
  // Of its own node, a server receives the share 1/s of what each of n nodes sends; a node sends everything once.
  if (servers.place == ServerPlace::own) return std::max(1.0, n / s);
  if (count > nodes) {
    fail(ErrorKind::usage, "{} servers do not fit on {} nodes that train. Take at most {}, or nodes of their own.",
         count, nodes, nodes);
  }
  // A node with a server sends the shares of the s - 1 others, and its sums to the n - 1 others.
  return (s - 1) / s + (n - 1) / s;
}

CollectiveCost server_cost(const Cluster& cluster, const ParameterServers& servers, CallOverhead overhead) {
  if (cluster.nodes == 1) return all_reduce_cost(cluster, std::nullopt, overhead);
  const auto wire = across_leaves(cluster);
  AffineCost across{AllReduce::parameter_servers, 2 * wire.latency_seconds,
                    server_traffic(servers, cluster.nodes) / wire.bytes_per_second};
  across = hierarchical(across, cluster);
  across.call_seconds += overhead.seconds;
  return {{across}};
}

bool may_use(AllReduce asked, AllReduce algorithm) {
  if (asked != AllReduce::nccl) return asked == algorithm;
  return algorithm == AllReduce::ring || algorithm == AllReduce::double_tree ||
         algorithm == AllReduce::hierarchical_ring || algorithm == AllReduce::hierarchical_double_tree;
}

const AffineCost* CollectiveCost::cheapest(double bytes) const {
  const auto less = [bytes](const auto& a, const auto& b) { return a.at(bytes) < b.at(bytes); };
  const auto found = std::min_element(choices.begin(), choices.end(), less);
  return found == choices.end() ? nullptr : &*found;
}

double CollectiveCost::seconds(double bytes) const {
  const auto* found = cheapest(bytes);
  return found == nullptr ? 0 : found->at(bytes);
}

CollectiveCost all_reduce_cost(const Cluster& cluster, std::optional<AllReduce> only, CallOverhead overhead) {
  CollectiveCost cost;
  if (cluster.devices() == 1) return cost;
  cost.choices = cluster.nodes == 1 ? inside_a_node(cluster) : across_nodes(cluster);
  if (only) {
    std::erase_if(cost.choices, [&](const auto& one) { return !may_use(*only, one.algorithm); });
    if (cost.choices.empty()) {
      fail(ErrorKind::usage,
           "{} cannot be used on {} nodes x {} devices: levels need several of both, halving and doubling a power of "
           "two. "
           "Leave the algorithm out, and the cheapest is taken.",
           name_of(*only), cluster.nodes, cluster.devices_per_node);
    }
  }
  for (auto& one : cost.choices) one.call_seconds += overhead.seconds;
  return cost;
}

}  // namespace assay::predict
