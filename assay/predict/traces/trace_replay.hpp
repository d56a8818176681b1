#pragma once

#include <map>

#include "assay/predict/traces/trace_graph.hpp"

namespace assay::predict {

/// What is different in a replay: each kind of time is multiplied by its factor; 0 leaves it out.
struct TraceChange {
  std::array<double, kSpentKinds> factors{1, 1, 1, 1, 1, 1, 1, 1};

  TraceChange with(Spent kind, double factor) const;
  double operator()(Spent kind) const { return factors[static_cast<std::size_t>(kind)]; }
};

/// The critical path: from its end back along what was waited for last. Its pieces add up to its length.
struct CriticalPath {
  double seconds = 0;
  std::map<Spent, double> by_kind;
  std::map<std::int64_t, double> by_rank;
};

/// When each node would end.
struct TraceReplay {
  double seconds = 0;  ///< until the last rank has ended
  std::vector<double> rank_seconds;
  std::vector<double> end_ns;
};

/// Runs the graph with a change. Throws Error{failure} where ranks wait for each other in a circle, which happens where
/// collectives were joined that do not belong together.
TraceReplay replay_trace(const TraceGraph& graph, const TraceChange& change);

CriticalPath critical_path_of(const TraceGraph& graph, const TraceReplay& replay, const TraceChange& change);

}  // namespace assay::predict
