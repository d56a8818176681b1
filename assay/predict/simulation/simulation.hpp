#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "assay/core/text/json.hpp"
#include "assay/predict/cluster.hpp"

// What `assay-simulate` is asked and what it answers. No SimGrid in here: `assay` itself reads and writes these.

namespace assay::predict {

/// How the gradients of a bucket are summed. All but the last treat every device as a rank of its own, rank r on node
/// r / devices_per_node.
enum class SimulatedAlgorithm {
  ring,              ///< in the order of ranks: one message leaves and one enters each node at a time
  halving_doubling,  ///< at distance d the ranks exchange d / P of the buffer, as in model/collective_test.cpp
  binary_tree,       ///< at level k, ranks that are an odd multiple of 2^k send all to the rank 2^k below, and back
  hierarchical,      ///< reduce_scatter inside, a ring across with each device's share, all_gather inside
};

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::SimulatedAlgorithm> {
  static constexpr std::array<const char*, 4> names{"ring", "halving_doubling", "binary_tree", "hierarchical"};
};

namespace assay::predict {

struct SimulatedTopology {
  TopologyKind kind = TopologyKind::star;
  std::int64_t nodes = 1;
  std::int64_t devices_per_node = 1;
  std::int64_t nodes_per_leaf = 1;  ///< of a fat tree
  double oversubscription = 1;      ///< of a fat tree: what the nodes of a leaf can send over what its uplinks carry
};

template <typename V>
void describe(V& v, SimulatedTopology& t) {
  required(v, "kind", t.kind);
  required(v, "nodes", t.nodes);
  v("devices_per_node", t.devices_per_node);
  v("nodes_per_leaf", t.nodes_per_leaf);
  v("oversubscription", t.oversubscription);
}

struct SimulatedLink {
  double latency_seconds = 0;             ///< one way, from sender to receiver in total
  double bandwidth_bytes_per_second = 1;  ///< in each direction
};

template <typename V>
void describe(V& v, SimulatedLink& l) {
  required(v, "latency_seconds", l.latency_seconds);
  required(v, "bandwidth_bytes_per_second", l.bandwidth_bytes_per_second);
}

/// Gradients that are summed by one collective.
struct SimulatedBucket {
  double ready_seconds = 0;  ///< since the iteration began, on a node that is no straggler
  std::int64_t bytes = 0;
};

template <typename V>
void describe(V& v, SimulatedBucket& b) {
  required(v, "ready_seconds", b.ready_seconds);
  required(v, "bytes", b.bytes);
}

/// A node that computes slower: all it does takes `factor` times as long.
struct SimulatedStraggler {
  std::int64_t node = 0;
  double factor = 1;
};

template <typename V>
void describe(V& v, SimulatedStraggler& s) {
  required(v, "node", s.node);
  required(v, "factor", s.factor);
}

/// Traffic of others from a node to a node, throughout the iteration: either one flow of at most so many bytes per
/// second, or so many flows that take what they get. Where each device has a rail, it is on the rail that is simulated,
/// which then is the slowest.
struct SimulatedBackground {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::optional<double> bytes_per_second;
  std::optional<std::int64_t> flows;
};

template <typename V>
void describe(V& v, SimulatedBackground& b) {
  required(v, "from", b.from);
  required(v, "to", b.to);
  v("bytes_per_second", b.bytes_per_second);
  v("flows", b.flows);
}

struct SimulationRequest {
  SimulatedTopology topology;
  SimulatedLink across;                 ///< of a node, or of each device where it has a rail
  std::optional<SimulatedLink> inside;  ///< between devices of a node; needed where it has several
  bool shared_nic = false;              ///< the devices of a node share one link across; else each has a rail
  SimulatedAlgorithm algorithm = SimulatedAlgorithm::ring;
  std::vector<SimulatedBucket> buckets;  ///< in the order they are sent
  double compute_seconds = 0;            ///< end of the backward pass, on a node that is no straggler
  std::vector<SimulatedStraggler> stragglers;
  std::vector<SimulatedBackground> background;
};

template <typename V>
void describe(V& v, SimulationRequest& r) {
  required(v, "topology", r.topology);
  required(v, "across", r.across);
  v("inside", r.inside);
  v("shared_nic", r.shared_nic);
  required(v, "algorithm", r.algorithm);
  required(v, "buckets", r.buckets);
  required(v, "compute_seconds", r.compute_seconds);
  v("stragglers", r.stragglers);
  v("background", r.background);
}

/// When a bucket's collective began and ended, in seconds since the iteration began.
struct SimulatedSpan {
  double begin_seconds = 0;
  double end_seconds = 0;
};

template <typename V>
void describe(V& v, SimulatedSpan& s) {
  required(v, "begin_seconds", s.begin_seconds);
  required(v, "end_seconds", s.end_seconds);
}

struct SimulationAnswer {
  std::vector<SimulatedSpan> buckets;  ///< as in the request
  double iteration_seconds = 0;        ///< until all is computed and all is summed
  std::int64_t flows = 0;              ///< messages of collectives that were simulated
  double wall_seconds = 0;             ///< that the simulation took
  std::int64_t peak_resident_bytes = 0;
};

template <typename V>
void describe(V& v, SimulationAnswer& a) {
  required(v, "buckets", a.buckets);
  required(v, "iteration_seconds", a.iteration_seconds);
  required(v, "flows", a.flows);
  required(v, "wall_seconds", a.wall_seconds);
  required(v, "peak_resident_bytes", a.peak_resident_bytes);
}

/// Throws Error{usage} that names the first value that is out of range.
void check_simulation(const SimulationRequest& request);

/// Reads a request and checks it. Throws Error{bad_input} for what is no request.
SimulationRequest parse_simulation(std::string_view text);

/// Reads an answer. Throws Error{bad_input}.
SimulationAnswer parse_simulation_answer(std::string_view text);

}  // namespace assay::predict
