#include "assay/predict/traces/trace_replay.hpp"

#include <algorithm>
#include <limits>

#include "assay/core/error.hpp"

namespace assay::predict {
namespace {

double delay_of(const TraceEdge& edge, const TraceChange& change) {
  return static_cast<double>(edge.delay_ns) * change(edge.kind);
}

double duration_of(const TraceNode& node, const TraceChange& change) {
  return static_cast<double>(node.duration_ns) * change(node.kind);
}

/// Nodes so that each comes after those that it waits for.
std::vector<std::uint32_t> order_of(const TraceGraph& graph) {
  const auto count = graph.nodes.size();
  std::vector<std::uint32_t> missing(count, 0);
  std::vector<std::vector<std::uint32_t>> followers(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    missing[i] = static_cast<std::uint32_t>(graph.nodes[i].edges.size());
    for (const auto& edge : graph.nodes[i].edges) followers[edge.from].push_back(i);
  }
  std::vector<std::uint32_t> order;
  order.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (missing[i] == 0) order.push_back(i);
  }
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (const auto follower : followers[order[at]]) {
      if (--missing[follower] == 0) order.push_back(follower);
    }
  }
  if (order.size() != count) {
    fail(ErrorKind::failure, "ranks wait for each other in a circle: their collectives do not belong together.");
  }
  return order;
}

}  // namespace

TraceChange TraceChange::with(Spent kind, double factor) const {
  TraceChange changed = *this;
  changed.factors[static_cast<std::size_t>(kind)] = factor;
  return changed;
}

TraceReplay replay_trace(const TraceGraph& graph, const TraceChange& change) {
  TraceReplay replay;
  replay.end_ns.assign(graph.nodes.size(), 0);
  for (const auto index : order_of(graph)) {
    const auto& node = graph.nodes[index];
    double begin = node.edges.empty() ? 0 : -std::numeric_limits<double>::infinity();
    for (const auto& edge : node.edges) begin = std::max(begin, replay.end_ns[edge.from] + delay_of(edge, change));
    replay.end_ns[index] = begin + duration_of(node, change);
  }
  for (const auto end : graph.ends) {
    replay.rank_seconds.push_back(1e-9 * replay.end_ns[end]);
    replay.seconds = std::max(replay.seconds, replay.rank_seconds.back());
  }
  return replay;
}

CriticalPath critical_path_of(const TraceGraph& graph, const TraceReplay& replay, const TraceChange& change) {
  CriticalPath path;
  path.seconds = replay.seconds;
  auto at = *std::max_element(graph.ends.begin(), graph.ends.end(),
                              [&](auto a, auto b) { return replay.end_ns[a] < replay.end_ns[b]; });
  const auto spend = [&](const TraceNode& node, Spent kind, double ns) {
    path.by_kind[kind] += 1e-9 * ns;
    path.by_rank[node.rank] += 1e-9 * ns;
  };
  while (true) {
    const auto& node = graph.nodes[at];
    if (node.duration_ns > 0) spend(node, node.kind, duration_of(node, change));
    if (node.edges.empty()) return path;
    const auto last = std::max_element(node.edges.begin(), node.edges.end(), [&](const auto& a, const auto& b) {
      return replay.end_ns[a.from] + delay_of(a, change) < replay.end_ns[b.from] + delay_of(b, change);
    });
    spend(node, last->kind, delay_of(*last, change));
    at = last->from;
  }
}

}  // namespace assay::predict
