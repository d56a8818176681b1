#pragma once

#include <array>

#include "assay/core/text/json.hpp"
#include "assay/predict/traces/trace_window.hpp"

namespace assay::predict {

/// What a piece of time along the graph is.
enum class Spent {
  compute,
  communication,
  copy,
  host,     ///< the program between two launches
  input,    ///< the host waits for input
  launch,   ///< from the call until the work begins on an idle stream
  gap,      ///< between two works of which one follows the other at once
  waiting,  ///< a longer wait whose reason the trace does not show
};
constexpr std::size_t kSpentKinds = 8;

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::Spent> {
  static constexpr std::array<const char*, 8> names{"compute", "communication", "copy", "host",
                                                    "input",   "launch",        "gap",  "waiting"};
};

namespace assay::predict {

/// `node` cannot begin before `from` has ended and `delay_ns` more have passed.
struct TraceEdge {
  std::uint32_t from = 0;
  std::int64_t delay_ns = 0;
  Spent kind = Spent::gap;
};

/// A work of a device, or a point of time of the host, which takes none.
struct TraceNode {
  std::int64_t rank = 0;
  std::int64_t duration_ns = 0;
  Spent kind = Spent::host;
  std::uint32_t name = 0;  ///< of the rank's GpuTrace::names; works alone
  std::vector<TraceEdge> edges;
};

/// The steps of one rank or several as a graph without cycles: each node stands after those it waits for, apart from
/// nodes of other ranks. The host is one line of points: what its threads did one after another stays in that order.
struct TraceGraph {
  std::vector<TraceNode> nodes;
  std::uint32_t begin = 0;
  std::vector<std::uint32_t> ends;  ///< one for each rank, in the order of ranks
  std::int64_t steps = 1;
};

/// The graph of a rank as it ran. A work waits for its launch, for the work before it on its stream, and for works of
/// other streams by events: those that the profiler names; where it names none, those that the calls' order shows; and
/// where a work begins late for no other reason, what ended last on another stream. The host waits where it
/// synchronises. `node_of_work` gets the node of each work of the window.
TraceGraph graph_of(const TraceWindow& window, std::vector<std::uint32_t>& node_of_work);

}  // namespace assay::predict
