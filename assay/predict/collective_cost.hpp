#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "assay/predict/cluster.hpp"

namespace assay::predict {

/// How gradients can be added up over the devices of a cluster. Those with a level inside and one across scatter them
/// over the devices of a node, send each share by the algorithm across nodes, and gather them again.
enum class AllReduce {
  ring,                           ///< one ring through all devices, node after node
  binary_tree,                    ///< up to a root and down again
  double_tree,                    ///< two trees at once, pipelined: as NCCL does it between nodes
  halving_doubling,               ///< where the number of devices is a power of two and each has its own link
  hierarchical_ring,              ///< inside a ring, across a ring
  hierarchical_halving_doubling,  ///< inside a ring, across by halving and doubling
  hierarchical_double_tree,       ///< inside a ring, across two trees
  nccl,                           ///< the cheapest for each size of those that NCCL has: rings and double trees
  parameter_servers,              ///< gradients to servers that add them up, and back: see ParameterServers
};

/// Which nodes parameter servers are on.
enum class ServerPlace {
  own,      ///< nodes that train nothing, with the links of a node that trains
  workers,  ///< the nodes that train, whose links then carry both
};

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::AllReduce> {
  static constexpr std::array<const char*, 9> names{"ring",
                                                    "binary_tree",
                                                    "double_tree",
                                                    "halving_doubling",
                                                    "hierarchical_ring",
                                                    "hierarchical_halving_doubling",
                                                    "hierarchical_double_tree",
                                                    "nccl",
                                                    "parameter_servers"};
};

template <>
struct assay::EnumNames<assay::predict::ServerPlace> {
  static constexpr std::array<const char*, 2> names{"own", "workers"};
};

namespace assay::predict {

/// Whether a library that was asked for `asked` may use `algorithm`: that one, or one of NCCL's.
bool may_use(AllReduce asked, AllReduce algorithm);

/// Every algorithm costs a time for each call and a time for each byte beyond those that pass in that time anyway.
struct AffineCost {
  AllReduce algorithm = AllReduce::ring;
  double call_seconds = 0;
  double byte_seconds = 0;
  double free_bytes = 0;     ///< of links that save up what they did not carry; else 0
  double burst_seconds = 0;  ///< of carrying, at most, is saved up from one call to the next
  double at(double bytes) const { return call_seconds + std::max(0.0, bytes - free_bytes) * byte_seconds; }

  /// The same on links that have saved up so many seconds of carrying. Leaves in `saved` what they have afterwards.
  double on_saved(double bytes, double& saved) const {
    const double seconds = std::max(call_seconds, at(bytes) - saved);
    saved = std::min(burst_seconds, saved + seconds - bytes * byte_seconds);
    return seconds;
  }
};

/// What adding up gradients costs: the cheapest of its algorithms for each size, as a library chooses.
struct CollectiveCost {
  std::vector<AffineCost> choices;  ///< empty on one device, where nothing travels

  /// Null where there is none.
  const AffineCost* cheapest(double bytes) const;
  double seconds(double bytes) const;
};

/// Parameter servers: every gradient is cut evenly over all of them.
struct ParameterServers {
  ServerPlace place = ServerPlace::own;
  std::optional<std::int64_t> count;  ///< null: as many as nodes that train
};

template <typename V>
void describe(V& v, ParameterServers& s) {
  required(v, "place", s.place);
  v("count", s.count);
}

/// What a call costs beside its messages: starting it, joining the ranks. Of NCCL and gloo alike; 0 unless known.
struct CallOverhead {
  double seconds = 0;
};

/// By the formulas of model/collective.hpp for a cluster that is used as a whole. On a fat tree, what crosses leaves
/// all at once pays for the oversubscription. `only` leaves one algorithm, or those of NCCL. Throws Error{usage} where
/// that one cannot be.
CollectiveCost all_reduce_cost(const Cluster& cluster, std::optional<AllReduce> only = std::nullopt,
                               CallOverhead overhead = {});

/// How often the bytes of all gradients go through the busiest link of a node, in one direction, with so many nodes and
/// servers. Throws Error{usage} where there are more servers than nodes to put them on.
double server_traffic(const ParameterServers& servers, std::int64_t nodes);

/// Devices of a node add up among themselves; then its sums go to the servers and come back, parts of a message at once
/// in both directions. Within one node there is nothing to serve, and the cheapest algorithm is taken.
CollectiveCost server_cost(const Cluster& cluster, const ParameterServers& servers, CallOverhead overhead = {});

}  // namespace assay::predict
