#pragma once

#include "assay/predict/traces/trace_graph.hpp"

namespace assay::predict {

/// A collective in which several ranks took part, as the work of each of them.
struct JoinedCollective {
  std::vector<std::pair<std::size_t, std::size_t>> members;  ///< rank and work, as numbers in their lists
  std::int64_t transfer_ns = 0;                              ///< the shortest of them: who came last waited for nobody
};

/// Ranks of one job, joined by their collectives.
struct JoinedRanks {
  std::vector<JoinedCollective> collectives;
  std::vector<std::int64_t> clock_ns;  ///< of each rank, to be taken from its times so that collectives end together
  std::string why_not;                 ///< where nothing is joined, the reason
};

/// The same collective is the one of the same kernel and process group that comes at the same place in the order.
/// Collectives end together: where they do not, they are not the same, and nothing is joined.
JoinedRanks join_ranks(const std::vector<TraceWindow>& windows);

/// The graphs of all ranks as one: a collective ends on all of them when the last has come to it and its transfer is
/// done.
TraceGraph joined_graph(const std::vector<TraceWindow>& windows, const JoinedRanks& ranks);

/// The graph of one rank that never waits for another: each joined collective takes its transfer alone.
TraceGraph alone_graph(const std::vector<TraceWindow>& windows, const JoinedRanks& ranks, std::size_t rank);

}  // namespace assay::predict
