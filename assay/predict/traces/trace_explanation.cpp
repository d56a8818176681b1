#include "assay/predict/traces/trace_explanation.hpp"

#include <algorithm>

#include "assay/core/error.hpp"
#include "assay/predict/traces/slow_rank.hpp"
#include "assay/predict/traces/trace_files.hpp"
#include "assay/predict/traces/trace_ranks.hpp"
#include "assay/predict/traces/trace_replay.hpp"

namespace assay::predict {
namespace {

constexpr double kWorthNaming = 0.05;  ///< share of the step
constexpr std::size_t kKernelsShown = 8;

std::vector<TraceWindow> windows_of(const std::vector<GpuTrace>& traces, const StepChoice& choice) {
  std::vector<TraceWindow> windows;
  std::vector<FileOfJob> files;
  for (const auto& trace : traces) files.push_back({trace.name, trace.rank, trace.job_ranks});
  static_cast<void>(ranks_of_job(files));
  for (const auto& trace : traces) {
    windows.push_back(window_of(trace, choice));
    if (windows.back().steps != windows.front().steps) {
      fail(ErrorKind::usage, "{} has {} steps and {} has {}. Give traces of the same steps, or one step by --only.",
           traces.front().name, windows.front().steps, trace.name, windows.back().steps);
    }
  }
  return windows;
}

/// The graph that is replayed: all ranks where they are joined, else the rank whose steps take longest.
TraceGraph main_graph(const std::vector<TraceWindow>& windows, const JoinedRanks& ranks) {
  if (!ranks.collectives.empty()) return joined_graph(windows, ranks);
  const auto longest = std::max_element(
      windows.begin(), windows.end(), [](const auto& a, const auto& b) { return a.step_seconds() < b.step_seconds(); });
  std::vector<std::uint32_t> nodes;
  return graph_of(*longest, nodes);
}

std::vector<KernelTime> longest_kernels(const std::vector<TraceWindow>& windows) {
  std::map<std::string, KernelTime> found;
  for (const auto& window : windows) {
    const double runs = static_cast<double>(window.steps) * static_cast<double>(windows.size());
    for (const auto& one : window.works) {
      auto& kernel = found[window.trace->name_of(one.work.name)];
      kernel.seconds += 1e-9 * static_cast<double>(one.work.length_ns()) / runs;
      kernel.count += 1 / runs;
    }
  }
  std::vector<KernelTime> kernels;
  for (auto& [name, kernel] : found) {
    kernel.name = name;
    kernels.push_back(std::move(kernel));
  }
  std::stable_sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  kernels.resize(std::min(kernels.size(), kKernelsShown));
  return kernels;
}

/// Replays the graph with changes, each against the graph as it is.
class Trials {
 public:
  explicit Trials(const TraceGraph& graph) : graph_(graph) {}

  double step_seconds(const TraceChange& change) const {
    return replay_trace(graph_, change).seconds / static_cast<double>(graph_.steps);
  }

 private:
  const TraceGraph& graph_;
};

std::vector<TraceCause> causes_of(const TraceExplanation& known, const Trials& trials) {
  const double step = known.replayed_step_seconds;
  std::vector<TraceCause> causes;
  const auto add = [&](TraceCauseKind kind, double without) {
    causes.push_back({kind, step > 0 ? std::max(0.0, 1 - without / step) : 0});
  };
  const TraceChange as_it_is;
  if (known.slow_rank) add(TraceCauseKind::slow_rank, known.slow_rank->others_step_seconds);
  add(TraceCauseKind::input, trials.step_seconds(as_it_is.with(Spent::input, 0)));
  add(TraceCauseKind::communication, trials.step_seconds(as_it_is.with(Spent::communication, 0)));
  add(TraceCauseKind::host, trials.step_seconds(as_it_is.with(Spent::host, 0)));
  add(TraceCauseKind::copies, trials.step_seconds(as_it_is.with(Spent::copy, 0)));
  add(TraceCauseKind::waiting, trials.step_seconds(as_it_is.with(Spent::waiting, 0)));
  // A rank that can be named says more than a kind of time that would save about the same.
  const auto weight = [](const TraceCause& one) {
    return one.saved + (one.kind == TraceCauseKind::slow_rank && one.saved >= kWorthNaming ? kWorthNaming : 0);
  };
  std::stable_sort(causes.begin(), causes.end(), [&](const auto& a, const auto& b) { return weight(a) > weight(b); });
  // What the job is for comes first only where nothing else is worth naming.
  const TraceCause compute{TraceCauseKind::compute,
                           std::max(0.0, 1 - trials.step_seconds(as_it_is.with(Spent::compute, 0.5)) / step)};
  const auto place =
      std::find_if(causes.begin(), causes.end(), [](const auto& one) { return one.saved < kWorthNaming; });
  causes.insert(place, compute);
  return causes;
}

std::vector<TraceWhatIf> what_ifs_of(const TraceExplanation& known, const Trials& trials, double faster) {
  const TraceChange as_it_is;
  std::vector<TraceWhatIf> out;
  const auto add = [&](std::string change, const TraceChange& with) {
    out.push_back({std::move(change), trials.step_seconds(with)});
  };
  add(fmt::format("kernels {:g} times as fast", faster), as_it_is.with(Spent::compute, 1 / faster));
  add("communication takes no time", as_it_is.with(Spent::communication, 0));
  add("communication twice as fast", as_it_is.with(Spent::communication, 0.5));
  add("input takes no time", as_it_is.with(Spent::input, 0));
  add("the host twice as fast", as_it_is.with(Spent::host, 0.5).with(Spent::launch, 0.5));
  if (known.slow_rank) {
    out.push_back(
        {fmt::format("rank {} as fast as the others", known.slow_rank->rank), known.slow_rank->others_step_seconds});
  }
  return out;
}

}  // namespace

TraceExplanation explain_traces(const std::vector<GpuTrace>& traces, const StepChoice& choice, double faster) {
  ASSAY_CHECK(!traces.empty() && faster > 0);
  const auto windows = windows_of(traces, choice);
  TraceExplanation out;
  out.steps = windows.front().steps;
  out.steps_are_marked = windows.front().is_marked;
  for (const auto& window : windows) {
    out.ranks.push_back(breakdown_of(window));
    out.step_seconds = std::max(out.step_seconds, out.ranks.back().step_seconds);
  }
  const auto ranks = join_ranks(windows);
  out.why_not_joined = ranks.why_not;
  const auto graph = main_graph(windows, ranks);
  const auto replay = replay_trace(graph, {});
  const auto path = critical_path_of(graph, replay, {});
  const auto steps = static_cast<double>(out.steps);
  out.replayed_step_seconds = replay.seconds / steps;
  for (const auto& [kind, seconds] : path.by_kind) {
    out.path[assay::name_of(kind)] = path.seconds > 0 ? seconds / path.seconds : 0;
    out.path_step_seconds += seconds / steps;
  }
  if (!ranks.collectives.empty()) out.slow_rank = find_slow_rank(windows, ranks, out.ranks);
  const Trials trials(graph);
  out.causes = causes_of(out, trials);
  out.what_ifs = what_ifs_of(out, trials, faster);
  out.kernels = longest_kernels(windows);
  return out;
}

}  // namespace assay::predict
