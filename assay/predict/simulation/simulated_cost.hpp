#pragma once

#include <utility>
#include <vector>

#include "assay/predict/collective_cost.hpp"
#include "assay/predict/simulation/simulation.hpp"

namespace assay::predict {

/// What a formula does not know of, for a simulation.
struct Adversity {
  std::vector<SimulatedStraggler> stragglers;
  std::vector<SimulatedBackground> background;

  /// By how much the slowest node is slower: all wait for it.
  double slowest() const;
};

/// The algorithms that can be simulated on a cluster: of those that all_reduce_cost() knows there, all but the double
/// tree, whose pipelining has no steps.
std::vector<std::pair<AllReduce, SimulatedAlgorithm>> simulated_algorithms(const Cluster& cluster);

/// What assay-simulate is asked to find the cost of one: two sizes tell it, since a message costs a time for itself and
/// one for each byte.
SimulationRequest cost_request(const Cluster& cluster, SimulatedAlgorithm algorithm, const Adversity& adversity);

/// The cost that the answer to that request tells.
AffineCost simulated_cost(AllReduce name, const SimulationRequest& request, const SimulationAnswer& answer);

}  // namespace assay::predict
