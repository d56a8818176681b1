#include "assay/predict/simulation/simulation.hpp"

#include <bit>
#include <cmath>
#include <string>

namespace assay::predict {
namespace {

constexpr JsonLimits kSimulationLimits{256u << 20, 16, 10'000'000};
constexpr std::int64_t kMostNodes = 1'000'000;
constexpr std::int64_t kMostDevices = 1024;
constexpr std::int64_t kMostFlows = 1000;  // of one entry of the background
constexpr double kMostSeconds = 1e9;
constexpr double kMostBandwidth = 1e15;

void need_count(const std::string& field, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  fail(ErrorKind::usage, "{} is {}, but must be a whole number from {} to {}.", field, value, least, most);
}

void need_number(const std::string& field, double value, double least, double most) {
  if (std::isfinite(value) && value >= least && value <= most) return;
  fail(ErrorKind::usage, "{} is {}, but must be a number from {:g} to {:g}.", field, value, least, most);
}

void check_topology(const SimulatedTopology& t) {
  need_count("topology.nodes", t.nodes, 1, kMostNodes);
  need_count("topology.devices_per_node", t.devices_per_node, 1, kMostDevices);
  if (t.kind != TopologyKind::fat_tree) return;
  need_count("topology.nodes_per_leaf", t.nodes_per_leaf, 1, kMostNodes);
  need_number("topology.oversubscription", t.oversubscription, 1, 1e6);
}

void check_link(const std::string& field, const SimulatedLink& link) {
  need_number(field + ".latency_seconds", link.latency_seconds, 0, kMostSeconds);
  need_number(field + ".bandwidth_bytes_per_second", link.bandwidth_bytes_per_second, 1, kMostBandwidth);
}

/// Exchanges at distances 1, 2, 4, … stay inside of nodes or leave them as a whole only for powers of two.
void check_algorithm(const SimulationRequest& r) {
  const bool doubles =
      r.algorithm == SimulatedAlgorithm::halving_doubling || r.algorithm == SimulatedAlgorithm::binary_tree;
  const auto devices = r.topology.devices_per_node;
  if (doubles && !std::has_single_bit(static_cast<std::uint64_t>(devices))) {
    fail(ErrorKind::usage, "{} needs devices_per_node to be a power of two, but it is {}. Use ring or hierarchical.",
         name_of(r.algorithm), devices);
  }
  if (devices > 1 && !r.inside) {
    fail(ErrorKind::usage, "devices_per_node is {}, but nothing says what joins them. Give the link `inside`.",
         devices);
  }
}

void check_background(const std::string& field, const SimulatedBackground& b, std::int64_t nodes) {
  need_count(field + ".from", b.from, 0, nodes - 1);
  need_count(field + ".to", b.to, 0, nodes - 1);
  if (b.from == b.to) fail(ErrorKind::usage, "{} goes from node {} to itself. Name two nodes.", field, b.from);
  if (b.bytes_per_second.has_value() == b.flows.has_value()) {
    fail(ErrorKind::usage, "{} needs either bytes_per_second or flows, and has {}.", field,
         b.flows ? "both" : "neither");
  }
  if (b.bytes_per_second) need_number(field + ".bytes_per_second", *b.bytes_per_second, 1, kMostBandwidth);
  if (b.flows) need_count(field + ".flows", *b.flows, 1, kMostFlows);
}

std::string item(const char* list, std::size_t index) {
  return fmt::format("{}[{}]", list, index);
}

}  // namespace

void check_simulation(const SimulationRequest& r) {
  check_topology(r.topology);
  check_link("across", r.across);
  if (r.inside) check_link("inside", *r.inside);
  check_algorithm(r);
  need_number("compute_seconds", r.compute_seconds, 0, kMostSeconds);
  for (std::size_t i = 0; i < r.buckets.size(); ++i) {
    need_number(item("buckets", i) + ".ready_seconds", r.buckets[i].ready_seconds, 0, kMostSeconds);
    need_count(item("buckets", i) + ".bytes", r.buckets[i].bytes, 0, std::int64_t{1} << 53);
  }
  for (std::size_t i = 0; i < r.stragglers.size(); ++i) {
    need_count(item("stragglers", i) + ".node", r.stragglers[i].node, 0, r.topology.nodes - 1);
    need_number(item("stragglers", i) + ".factor", r.stragglers[i].factor, 1, 1e6);
  }
  for (std::size_t i = 0; i < r.background.size(); ++i) {
    check_background(item("background", i), r.background[i], r.topology.nodes);
  }
}

SimulationRequest parse_simulation(std::string_view text) {
  auto request = from_json<SimulationRequest>(parse_json(text, kSimulationLimits), "request");
  check_simulation(request);
  return request;
}

SimulationAnswer parse_simulation_answer(std::string_view text) {
  return from_json<SimulationAnswer>(parse_json(text, kSimulationLimits), "assay-simulate");
}

}  // namespace assay::predict
