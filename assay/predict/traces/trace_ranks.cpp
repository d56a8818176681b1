#include "assay/predict/traces/trace_ranks.hpp"

#include <algorithm>
#include <map>

#include "assay/core/error.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::predict {
namespace {

constexpr std::int64_t kTogetherNs = 100'000;  ///< ends of a collective differ less, and less than a fifth of it
constexpr double kMostApart = 0.2;             ///< share of collectives that may do otherwise

using Key = std::pair<std::string, std::string>;  // kernel and process group

std::map<Key, std::vector<std::size_t>> collectives_of(const TraceWindow& window) {
  std::map<Key, std::vector<std::size_t>> found;
  for (std::size_t i = 0; i < window.works.size(); ++i) {
    const auto& work = window.works[i].work;
    if (work.kind != GpuWorkKind::communication || work.has_one_peer) continue;
    found[{window.trace->name_of(work.name), window.trace->name_of(work.group)}].push_back(i);
  }
  return found;
}

const GpuWork& work_of(const std::vector<TraceWindow>& windows, const std::pair<std::size_t, std::size_t>& member) {
  return windows[member.first].works[member.second].work;
}

void add_collectives(JoinedRanks& out, const std::vector<TraceWindow>& windows) {
  std::map<Key, std::vector<std::pair<std::size_t, std::vector<std::size_t>>>> by_key;
  for (std::size_t rank = 0; rank < windows.size(); ++rank) {
    for (auto& [key, works] : collectives_of(windows[rank])) by_key[key].emplace_back(rank, std::move(works));
  }
  for (const auto& [key, ranks] : by_key) {
    const auto count = ranks.front().second.size();
    const bool same =
        std::all_of(ranks.begin(), ranks.end(), [&](const auto& one) { return one.second.size() == count; });
    if (ranks.size() < 2) continue;
    if (!same) {
      out.why_not = fmt::format("ranks have different numbers of {}", shown(key.first, 40));
      out.collectives.clear();
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      JoinedCollective joined;
      for (const auto& [rank, works] : ranks) joined.members.emplace_back(rank, works[i]);
      joined.transfer_ns = work_of(windows, joined.members.front()).length_ns();
      for (const auto& member : joined.members) {
        joined.transfer_ns = std::min(joined.transfer_ns, work_of(windows, member).length_ns());
      }
      out.collectives.push_back(std::move(joined));
    }
  }
  if (out.collectives.empty()) out.why_not = "no collective is in the traces of two ranks";
}

/// Each rank's clock against that of the first rank which it shares collectives with.
void set_clocks(JoinedRanks& out, const std::vector<TraceWindow>& windows) {
  out.clock_ns.assign(windows.size(), 0);
  for (std::size_t rank = 1; rank < windows.size(); ++rank) {
    std::vector<double> differences;
    for (const auto& joined : out.collectives) {
      const auto& first = joined.members.front();
      const auto mine = std::find_if(joined.members.begin(), joined.members.end(),
                                     [&](const auto& member) { return member.first == rank; });
      if (mine == joined.members.end() || first.first >= rank) continue;
      differences.push_back(static_cast<double>(work_of(windows, *mine).end_ns - work_of(windows, first).end_ns +
                                                out.clock_ns[first.first]));
    }
    if (!differences.empty()) out.clock_ns[rank] = static_cast<std::int64_t>(stats::median(differences));
  }
}

void check_ends(JoinedRanks& out, const std::vector<TraceWindow>& windows) {
  std::size_t apart = 0;
  for (const auto& joined : out.collectives) {
    std::vector<std::int64_t> ends;
    for (const auto& member : joined.members) {
      ends.push_back(work_of(windows, member).end_ns - out.clock_ns[member.first]);
    }
    const auto [low, high] = std::minmax_element(ends.begin(), ends.end());
    if (*high - *low > std::max(kTogetherNs, joined.transfer_ns / 5)) ++apart;
  }
  if (static_cast<double>(apart) <= kMostApart * static_cast<double>(out.collectives.size())) return;
  out.why_not = fmt::format("{} of {} collectives do not end together on the ranks: they are not the same ones", apart,
                            out.collectives.size());
  out.collectives.clear();
}

void append(TraceGraph& all, TraceGraph one) {
  const auto shift = static_cast<std::uint32_t>(all.nodes.size());
  for (auto& node : one.nodes) {
    for (auto& edge : node.edges) edge.from += shift;
    all.nodes.push_back(std::move(node));
  }
  for (const auto end : one.ends) all.ends.push_back(end + shift);
}

}  // namespace

JoinedRanks join_ranks(const std::vector<TraceWindow>& windows) {
  JoinedRanks out;
  out.clock_ns.assign(windows.size(), 0);
  if (windows.size() < 2) {
    out.why_not = "it is the trace of one rank";
    return out;
  }
  add_collectives(out, windows);
  if (out.collectives.empty()) return out;
  set_clocks(out, windows);
  check_ends(out, windows);
  return out;
}

TraceGraph joined_graph(const std::vector<TraceWindow>& windows, const JoinedRanks& ranks) {
  TraceGraph all;
  all.steps = windows.front().steps;
  all.nodes.emplace_back();
  std::int64_t earliest = windows.front().begin_ns - ranks.clock_ns.front();
  for (std::size_t i = 0; i < windows.size(); ++i) {
    earliest = std::min(earliest, windows[i].begin_ns - ranks.clock_ns[i]);
  }
  std::vector<std::vector<std::uint32_t>> nodes(windows.size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    auto one = graph_of(windows[i], nodes[i]);
    const auto shift = static_cast<std::uint32_t>(all.nodes.size());
    const auto begin = one.begin + shift;
    for (auto& node : nodes[i]) node += shift;
    append(all, std::move(one));
    all.nodes[begin].edges.push_back({0, windows[i].begin_ns - ranks.clock_ns[i] - earliest, Spent::host});
  }
  for (const auto& joined : ranks.collectives) {
    std::vector<std::uint32_t> arrivals;
    for (const auto& [rank, work] : joined.members) {
      const auto ended = nodes[rank][work];
      TraceNode arrival;
      arrival.rank = all.nodes[ended].rank;
      arrival.edges = std::move(all.nodes[ended].edges);
      all.nodes[ended].edges.clear();
      all.nodes[ended].duration_ns = 0;
      arrivals.push_back(static_cast<std::uint32_t>(all.nodes.size()));
      all.nodes.push_back(std::move(arrival));
    }
    for (const auto& [rank, work] : joined.members) {
      for (const auto arrival : arrivals) {
        all.nodes[nodes[rank][work]].edges.push_back({arrival, joined.transfer_ns, Spent::communication});
      }
    }
  }
  return all;
}

TraceGraph alone_graph(const std::vector<TraceWindow>& windows, const JoinedRanks& ranks, std::size_t rank) {
  std::vector<std::uint32_t> nodes;
  auto graph = graph_of(windows[rank], nodes);
  for (const auto& joined : ranks.collectives) {
    for (const auto& member : joined.members) {
      if (member.first == rank) graph.nodes[nodes[member.second]].duration_ns = joined.transfer_ns;
    }
  }
  return graph;
}

}  // namespace assay::predict
