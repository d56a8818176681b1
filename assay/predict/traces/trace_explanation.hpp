#pragma once

#include "assay/predict/traces/breakdown.hpp"
#include "assay/predict/traces/trace_graph.hpp"

namespace assay::predict {

/// What keeps a step from being shorter.
enum class TraceCauseKind { slow_rank, input, communication, host, copies, waiting, compute };

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::TraceCauseKind> {
  static constexpr std::array<const char*, 7> names{"slow_rank", "input",   "communication", "host",
                                                    "copies",    "waiting", "compute"};
};

namespace assay::predict {

/// A cause, and what the step would gain without it, by a replay of the trace's own graph.
struct TraceCause {
  TraceCauseKind kind = TraceCauseKind::compute;
  double saved = 0;  ///< share of the step
};

template <typename V>
void describe(V& v, TraceCause& c) {
  v("kind", c.kind);
  v("saved", c.saved);
}

/// A replay with a change.
struct TraceWhatIf {
  std::string change;
  double step_seconds = 0;
};

template <typename V>
void describe(V& v, TraceWhatIf& w) {
  v("change", w.change);
  v("step_seconds", w.step_seconds);
}

/// The rank that the others wait for.
struct SlowRank {
  std::int64_t rank = 0;
  double step_seconds = 0;         ///< of this rank where it waits for nobody
  double others_step_seconds = 0;  ///< the longest of the others, likewise
  std::string where;          ///< what it spends more time on than the others: "compute", "host", "input", "copies"
  double more_seconds = 0;    ///< of a step
  std::string kernel;         ///< where that is compute: the kernel that takes most more
  double kernel_seconds = 0;  ///< how much more, of a step
};

template <typename V>
void describe(V& v, SlowRank& s) {
  v("rank", s.rank);
  v("step_seconds", s.step_seconds);
  v("others_step_seconds", s.others_step_seconds);
  v("where", s.where);
  v("more_seconds", s.more_seconds);
  v("kernel", s.kernel);
  v("kernel_seconds", s.kernel_seconds);
}

/// A kernel or a copy, over all ranks.
struct KernelTime {
  std::string name;
  double seconds = 0;  ///< of a step, mean over ranks
  double count = 0;    ///< in a step
};

template <typename V>
void describe(V& v, KernelTime& k) {
  v("name", k.name);
  v("seconds", k.seconds);
  v("count", k.count);
}

/// Where the step of a trace goes, and what would help.
struct TraceExplanation {
  std::int64_t steps = 1;
  bool steps_are_marked = false;
  double step_seconds = 0;             ///< the longest rank's
  double replayed_step_seconds = 0;    ///< of the graph without a change
  double path_step_seconds = 0;        ///< length of the critical path, for a step
  std::map<std::string, double> path;  ///< share of the path by what is spent on it
  std::vector<RankBreakdown> ranks;
  std::optional<SlowRank> slow_rank;
  std::string why_not_joined;      ///< where ranks cannot be held beside each other: the reason
  std::vector<TraceCause> causes;  ///< the first one first
  std::vector<TraceWhatIf> what_ifs;
  std::vector<KernelTime> kernels;  ///< the longest
};

template <typename V>
void describe(V& v, TraceExplanation& e) {
  v("steps", e.steps);
  v("steps_are_marked", e.steps_are_marked);
  v("step_seconds", e.step_seconds);
  v("replayed_step_seconds", e.replayed_step_seconds);
  v("path_step_seconds", e.path_step_seconds);
  v("path", e.path);
  v("ranks", e.ranks);
  v("slow_rank", e.slow_rank);
  v("why_not_joined", e.why_not_joined);
  v("causes", e.causes);
  v("what_ifs", e.what_ifs);
  v("kernels", e.kernels);
}

/// Explains the steps of one rank or several of one job. `faster` is how many times as fast kernels are in a what-if.
/// Throws Error{usage} where two traces are of the same rank or have different numbers of steps.
TraceExplanation explain_traces(const std::vector<GpuTrace>& traces, const StepChoice& choice, double faster);

}  // namespace assay::predict
