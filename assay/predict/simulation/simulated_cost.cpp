#include "assay/predict/simulation/simulated_cost.hpp"

#include <algorithm>
#include <bit>

namespace assay::predict {
namespace {

constexpr std::int64_t kLargeBytes = 1'000'000'000;  // beside which rounding is nothing

SimulatedLink as_link(const Wire& wire) {
  return {wire.latency_seconds, wire.bytes_per_second};
}

}  // namespace

double Adversity::slowest() const {
  double factor = 1;
  for (const auto& straggler : stragglers) factor = std::max(factor, straggler.factor);
  return factor;
}

std::vector<std::pair<AllReduce, SimulatedAlgorithm>> simulated_algorithms(const Cluster& cluster) {
  std::vector<std::pair<AllReduce, SimulatedAlgorithm>> known;
  if (cluster.devices() == 1) return known;
  known.emplace_back(AllReduce::ring, SimulatedAlgorithm::ring);
  if (cluster.nodes > 1 && cluster.devices_per_node > 1) {
    known.emplace_back(AllReduce::hierarchical_ring, SimulatedAlgorithm::hierarchical);
    return known;
  }
  const bool doubles = std::has_single_bit(static_cast<std::uint64_t>(cluster.devices()));
  if (!doubles) return known;
  known.emplace_back(AllReduce::halving_doubling, SimulatedAlgorithm::halving_doubling);
  known.emplace_back(AllReduce::binary_tree, SimulatedAlgorithm::binary_tree);
  return known;
}

SimulationRequest cost_request(const Cluster& cluster, SimulatedAlgorithm algorithm, const Adversity& adversity) {
  SimulationRequest request;
  request.topology = {cluster.topology.kind, cluster.nodes, cluster.devices_per_node, cluster.topology.nodes_per_leaf,
                      cluster.topology.oversubscription};
  request.across = cluster.across ? as_link(*cluster.across) : SimulatedLink{};
  if (cluster.inside) request.inside = as_link(*cluster.inside);
  request.shared_nic = cluster.across_per == Sharing::node;
  request.algorithm = algorithm;
  request.buckets = {{0, 0}, {0, kLargeBytes}};
  request.background = adversity.background;
  return request;
}

AffineCost simulated_cost(AllReduce name, const SimulationRequest& request, const SimulationAnswer& answer) {
  ASSAY_CHECK(answer.buckets.size() == 2 && request.buckets.size() == 2);
  const auto seconds = [&](std::size_t i) { return answer.buckets[i].end_seconds - answer.buckets[i].begin_seconds; };
  return {name, seconds(0), (seconds(1) - seconds(0)) / static_cast<double>(request.buckets[1].bytes)};
}

}  // namespace assay::predict
