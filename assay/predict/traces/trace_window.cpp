#include "assay/predict/traces/trace_window.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "assay/core/error.hpp"

namespace assay::predict {
namespace {

constexpr const char* kProfilerStep = "ProfilerStep";

void need_works(const GpuTrace& trace) {
  if (!trace.works.empty()) return;
  if (trace.counter_ranges > 0) {
    fail(ErrorKind::bad_input,
         "{}: it has hardware counters of {} kernels (CUPTI's range profiler), and not when they ran. Profile again "
         "without experimental_config.",
         trace.name, trace.counter_ranges);
  }
  fail(ErrorKind::bad_input,
       "{}: nothing ran on a GPU in it. Profile with ProfilerActivity.CUDA; `assay import` reads steps of a CPU.",
       trace.name);
}

std::vector<HostMark> steps_of(const GpuTrace& trace, const StepChoice& choice) {
  const std::string part = choice.mark.empty() ? kProfilerStep : choice.mark;
  std::vector<HostMark> steps;
  for (const auto& mark : trace.marks) {
    if (trace.name_of(mark.name).find(part) == std::string::npos) continue;
    if (!steps.empty() && mark.begin_ns < steps.back().end_ns) continue;  // inside of another
    steps.push_back(mark);
  }
  if (steps.empty() && (!choice.mark.empty() || choice.only)) {
    fail(ErrorKind::usage, "{}: no annotation of it has {} in its name. Leave {} out to take all of the trace.",
         trace.name, shown(part), choice.mark.empty() ? "--only" : "--step");
  }
  if (!choice.only) return steps;
  if (*choice.only < 1 || *choice.only > static_cast<std::int64_t>(steps.size())) {
    fail(ErrorKind::usage, "{}: --only {}: it has {} steps. Give a number from 1 to {}.", trace.name, *choice.only,
         steps.size(), steps.size());
  }
  return {steps[static_cast<std::size_t>(*choice.only - 1)]};
}

void add_works(TraceWindow& window) {
  std::unordered_map<std::int64_t, const RuntimeCall*> calls;
  for (const auto& call : window.trace->calls) {
    if (call.correlation >= 0 && call.kind == RuntimeCallKind::launch) calls.emplace(call.correlation, &call);
  }
  for (const auto& work : window.trace->works) {
    const auto call = work.correlation >= 0 ? calls.find(work.correlation) : calls.end();
    // Where calls are in the trace, work without one was launched before it began, by a step that is not in it.
    if (window.is_marked && !calls.empty() && call == calls.end()) continue;
    LaunchedWork launched{work, std::nullopt, 0};
    if (call != calls.end()) {
      launched.launched_ns = call->second->begin_ns;
      launched.thread = call->second->thread;
    }
    const auto at = launched.launched_ns.value_or(work.begin_ns);
    if (window.is_marked && (at < window.begin_ns || at > window.host_end_ns)) continue;
    window.works.push_back(launched);
  }
}

void end_window(TraceWindow& window) {
  if (window.works.empty()) {
    fail(ErrorKind::bad_input, "{}: nothing was launched on a GPU in its steps. Profile whole steps.",
         window.trace->name);
  }
  for (const auto& one : window.works) {
    window.end_ns = std::max(window.end_ns, one.work.end_ns);
    if (window.is_marked) continue;
    window.begin_ns = std::min({window.begin_ns, one.work.begin_ns, one.launched_ns.value_or(one.work.begin_ns)});
    window.host_end_ns = std::max(window.host_end_ns, one.launched_ns.value_or(one.work.begin_ns));
  }
  window.end_ns = std::max(window.end_ns, window.host_end_ns);
}

}  // namespace

TraceWindow window_of(const GpuTrace& trace, const StepChoice& choice) {
  need_works(trace);
  TraceWindow window;
  window.trace = &trace;
  const auto steps = steps_of(trace, choice);
  window.is_marked = !steps.empty();
  window.begin_ns = steps.empty() ? std::numeric_limits<std::int64_t>::max() : steps.front().begin_ns;
  window.host_end_ns = steps.empty() ? std::numeric_limits<std::int64_t>::min() : steps.back().end_ns;
  window.end_ns = std::numeric_limits<std::int64_t>::min();
  window.steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(steps.size()));
  add_works(window);
  end_window(window);
  TimeSpans input;
  for (const auto& mark : trace.marks) {
    if (trace.name_of(mark.name).find(choice.input) != std::string::npos) {
      input.push_back({mark.begin_ns, mark.end_ns});
    }
  }
  window.input = common(united(std::move(input)), {{window.begin_ns, window.host_end_ns}});
  return window;
}

}  // namespace assay::predict
