#include "assay/predict/traces/trace_graph.hpp"

#include <algorithm>
#include <map>

#include "assay/predict/traces/trace_waits.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::predict {
namespace {

constexpr std::int64_t kLongNs = 100'000;  ///< a launch or a gap is shorter; what is longer waits for something

Spent spent_by(GpuWorkKind kind) {
  if (kind == GpuWorkKind::compute) return Spent::compute;
  return kind == GpuWorkKind::communication ? Spent::communication : Spent::copy;
}

/// A moment of the host at which something happens that the device sees, or the other way round.
struct HostPoint {
  std::int64_t at_ns = 0;
  std::optional<std::size_t> launches;    ///< a work
  std::optional<std::size_t> waited_for;  ///< a work that the host waits for until this moment
};

class RankGraph {
 public:
  RankGraph(const TraceWindow& window, std::vector<std::uint32_t>& node_of_work)
      : window_(window),
        node_of_(node_of_work),
        waits_(window),
        launch_node_(window.works.size()),
        placed_(window.works.size(), false) {
    node_of_.assign(window.works.size(), 0);
    find_usual_delays();
  }

  TraceGraph build() {
    graph_.steps = window_.steps;
    add_points();
    // In the order of time: a node's causes are there before it. A work that began together with its launch comes
    // after.
    std::size_t point = 0;
    for (std::size_t i = 0; i < window_.works.size(); ++i) {
      while (point < points_.size() && points_[point].at_ns <= last_launch_before(i)) add_point(point++);
      add_work(i);
    }
    while (point < points_.size()) add_point(point++);
    add_end();
    return std::move(graph_);
  }

 private:
  const GpuWork& work(std::size_t index) const { return window_.works[index].work; }

  std::int64_t last_launch_before(std::size_t index) const {
    return std::max(work(index).begin_ns, window_.works[index].launched_ns.value_or(work(index).begin_ns));
  }

  /// The shortest usual time from a call to its work where the stream is idle, and between works that follow each
  /// other. Works that wait for an event say nothing of either.
  void find_usual_delays() {
    constexpr double kShort = 0.1;
    std::map<std::int64_t, std::int64_t> ended;
    std::vector<double> launches;
    std::vector<double> gaps;
    for (std::size_t i = 0; i < window_.works.size(); ++i) {
      const auto& one = window_.works[i];
      const auto before = ended.find(one.work.queue);
      const bool idle = before == ended.end() || (one.launched_ns && before->second < *one.launched_ns);
      const auto add = [&](std::vector<double>& delays, std::int64_t cause_ns) {
        if (waits_.of_work(i).empty()) delays.push_back(static_cast<double>(one.work.begin_ns - cause_ns));
      };
      if (one.launched_ns && idle) add(launches, *one.launched_ns);
      if (before != ended.end() && !idle) add(gaps, before->second);
      ended[one.work.queue] = one.work.end_ns;
    }
    if (!launches.empty()) usual_launch_ns_ = static_cast<std::int64_t>(stats::quantile(launches, kShort));
    if (!gaps.empty()) usual_gap_ns_ = static_cast<std::int64_t>(stats::quantile(gaps, kShort));
  }

  void add_points() {
    points_.push_back({window_.begin_ns, {}, {}});
    points_.push_back({window_.host_end_ns, {}, {}});
    for (const auto& span : window_.input) {
      points_.push_back({span.begin_ns, {}, {}});
      points_.push_back({span.end_ns, {}, {}});
    }
    for (std::size_t i = 0; i < window_.works.size(); ++i) {
      if (window_.works[i].launched_ns) points_.push_back({*window_.works[i].launched_ns, i, {}});
    }
    for (const auto& wait : waits_.of_host()) {
      points_.push_back({wait.from_ns, {}, {}});
      points_.push_back({wait.until_ns, {}, wait.work});
    }
    // What happens when a wait ends, such as the end of a step, comes after it: else the wait would be the host's work.
    std::stable_sort(points_.begin() + 1, points_.end(), [](const HostPoint& a, const HostPoint& b) {
      return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.waited_for && !b.waited_for;
    });
  }

  void add_point(std::size_t index) {
    const auto& point = points_[index];
    TraceNode node = new_node(Spent::host, 0, 0);
    if (index > 0) {
      const auto before = points_[index - 1].at_ns;
      // Until the device is ready the host does nothing: only what came before the wait is work of its own.
      const std::int64_t delay = point.waited_for ? 0 : point.at_ns - before;
      node.edges.push_back({last_point_, delay, is_input(before, point.at_ns) ? Spent::input : Spent::host});
    }
    if (point.waited_for && placed(*point.waited_for)) {
      const auto late = point.at_ns - work(*point.waited_for).end_ns;
      node.edges.push_back({node_of_[*point.waited_for], late, Spent::host});
    }
    last_point_ = add(std::move(node));
    last_point_ns_ = point.at_ns;
    if (index == 0) graph_.begin = last_point_;
    if (point.launches) launch_node_[*point.launches] = last_point_;
  }

  bool is_input(std::int64_t begin_ns, std::int64_t end_ns) {
    while (input_ < window_.input.size() && window_.input[input_].end_ns <= begin_ns) ++input_;
    return input_ < window_.input.size() && window_.input[input_].begin_ns <= begin_ns && begin_ns < end_ns;
  }

  void add_work(std::size_t index) {
    const auto& here = work(index);
    std::vector<TraceEdge> edges;
    if (launch_node_[index]) {
      add_edge(edges, here, *launch_node_[index], *window_.works[index].launched_ns, usual_launch_ns_, Spent::launch);
    }
    const auto before = last_on_.find(here.queue);
    if (before != last_on_.end()) {
      add_edge(edges, here, node_of_[before->second], work(before->second).end_ns, usual_gap_ns_, Spent::gap);
    }
    for (const auto source : waits_.of_work(index)) {
      if (placed(source) && work(source).end_ns <= here.begin_ns) {
        add_edge(edges, here, node_of_[source], work(source).end_ns, usual_gap_ns_, Spent::gap);
      }
    }
    if (latest_cause(edges, here) + kLongNs < here.begin_ns) add_unnamed_cause(edges, index);
    if (edges.empty()) {
      edges.push_back({last_point_, here.begin_ns - last_point_ns_, Spent::waiting});
    } else {
      give_the_rest(edges, here);
    }
    TraceNode node = new_node(spent_by(here.kind), here.length_ns(), here.name);
    node.edges = std::move(edges);
    node_of_[index] = add(std::move(node));
    placed_[index] = true;
    last_on_[here.queue] = index;
    by_end_.emplace(here.end_ns, index);
  }

  /// An edge whose delay is the usual one, or less where the work began sooner. causes_ keeps when its cause was there.
  void add_edge(std::vector<TraceEdge>& edges, const GpuWork& here, std::uint32_t from, std::int64_t cause_ns,
                std::int64_t usual_ns, Spent kind) {
    if (edges.empty()) causes_.clear();
    edges.push_back({from, std::min(usual_ns, here.begin_ns - cause_ns), kind});
    causes_.push_back(cause_ns);
  }

  std::int64_t latest_cause(const std::vector<TraceEdge>& edges, const GpuWork& here) const {
    return edges.empty() ? here.begin_ns - 2 * kLongNs : *std::max_element(causes_.begin(), causes_.end());
  }

  /// What ended last on another stream before a work that began late, and was launched before it.
  void add_unnamed_cause(std::vector<TraceEdge>& edges, std::size_t index) {
    const auto& here = work(index);
    const auto earliest = latest_cause(edges, here);
    for (auto it = by_end_.upper_bound(here.begin_ns); it != by_end_.begin();) {
      --it;
      if (it->first <= earliest) return;
      const auto& other = window_.works[it->second];
      if (other.work.queue == here.queue) continue;
      if (other.launched_ns && window_.works[index].launched_ns &&
          *other.launched_ns > *window_.works[index].launched_ns) {
        continue;
      }
      add_edge(edges, here, node_of_[it->second], it->first, usual_gap_ns_, Spent::gap);
      return;
    }
  }

  /// The cause that came last is why the work began when it did: its edge takes all of the time in between.
  void give_the_rest(std::vector<TraceEdge>& edges, const GpuWork& here) const {
    const auto last = static_cast<std::size_t>(std::max_element(causes_.begin(), causes_.end()) - causes_.begin());
    edges[last].delay_ns = here.begin_ns - causes_[last];
    if (edges[last].delay_ns > kLongNs) edges[last].kind = Spent::waiting;
  }

  void add_end() {
    TraceNode end = new_node(Spent::host, 0, 0);
    end.edges.push_back({last_point_, 0, Spent::host});
    for (const auto& [queue, index] : last_on_) end.edges.push_back({node_of_[index], 0, Spent::gap});
    graph_.ends.push_back(add(std::move(end)));
  }

  TraceNode new_node(Spent kind, std::int64_t duration_ns, std::uint32_t name) const {
    TraceNode node;
    node.rank = window_.trace->rank.value_or(0);
    node.kind = kind;
    node.duration_ns = duration_ns;
    node.name = name;
    return node;
  }

  bool placed(std::size_t index) const { return placed_[index]; }

  std::uint32_t add(TraceNode node) {
    graph_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(graph_.nodes.size() - 1);
  }

  const TraceWindow& window_;
  std::vector<std::uint32_t>& node_of_;
  TraceWaits waits_;
  TraceGraph graph_;
  std::vector<HostPoint> points_;
  std::vector<std::optional<std::uint32_t>> launch_node_;
  std::vector<bool> placed_;
  std::map<std::int64_t, std::size_t> last_on_;      // of each stream
  std::multimap<std::int64_t, std::size_t> by_end_;  // works that are in the graph
  std::vector<std::int64_t> causes_;                 // when the causes of the work at hand were there
  std::uint32_t last_point_ = 0;
  std::int64_t last_point_ns_ = 0;
  std::size_t input_ = 0;
  std::int64_t usual_launch_ns_ = 5'000;
  std::int64_t usual_gap_ns_ = 1'000;
};

}  // namespace

TraceGraph graph_of(const TraceWindow& window, std::vector<std::uint32_t>& node_of_work) {
  return RankGraph(window, node_of_work).build();
}

}  // namespace assay::predict
