#pragma once

#include <cstdint>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "assay/predict/simulation/simulate_steps.hpp"

namespace assay::predict {

/// What messages of n bytes that leave together take until the last has arrived: latency + n seconds_per_byte.
struct SimulatedCost {
  double latency_seconds = 0;
  double seconds_per_byte = 0;
};

/// What an engine is made with; SimGrid then says nothing on stderr.
std::string simulated_engine_name();

/// Makes flows cost latency + bytes / share. Precondition: an engine, which has no platform yet.
void set_flow_model();

/// Nodes and links in SimGrid's flow model: flows share a link by max-min fairness, and nothing else slows them.
///
/// A node's link has half of the latency, once at the sender and once at the receiver. So all pairs of nodes are
/// equally far apart, in a leaf or not, and uplinks add none: one alpha describes the network, as the formulas want.
///
/// The uplinks of a leaf are one link as wide as all of them, and the core above is never the bottleneck. That is what
/// a fabric reaches that spreads packets over all paths. SimGrid's own fat tree gives each pair one fixed path, on
/// which flows can collide while other uplinks are idle; whether that happens depends on routing tables that nobody
/// gave us.
///
/// SimGrid allows one engine in a process, so one of these can be made.
class SimulatedNetwork {
 public:
  SimulatedNetwork(const SimulatedTopology& topology, const SimulatedLink& link,
                   std::vector<SimulatedBackground> background);

  /// Simulates messages of `bytes` each, `streams` on each pair. Returns seconds until the last has arrived.
  double seconds(const SimulatedSends& sends, std::int64_t streams, std::uint64_t bytes);

  /// The cost of such messages for every size, from one simulation. All of them begin at once, are equally large and
  /// equally far from where they go, and the background never changes; so with twice the bytes all shares stay what
  /// they are and every flow takes twice as long. A law instead of a size also needs no rounding to whole bytes.
  SimulatedCost cost(const SimulatedSends& sends, std::int64_t streams);

  std::int64_t flows() const { return flows_; }  ///< simulated so far, without the background

 private:
  void build_star();
  void build_fat_tree(std::int64_t nodes_per_leaf, double oversubscription);
  simgrid::s4u::SplitDuplexLink* node_link(std::int64_t node);
  void start_background();
  void start_node(std::size_t node, std::int32_t to, bool receives, std::int64_t streams, std::uint64_t bytes);

  simgrid::s4u::Engine engine_;
  std::int64_t nodes_;
  SimulatedLink link_;
  std::vector<SimulatedBackground> background_;
  simgrid::s4u::NetZone* root_ = nullptr;
  std::vector<simgrid::s4u::Host*> hosts_;
  std::vector<simgrid::s4u::Mailbox*> boxes_;  ///< one for each node
  double last_arrival_ = 0;
  std::int64_t flows_ = 0;
};

}  // namespace assay::predict
