#pragma once

#include "assay/predict/traces/gpu_trace.hpp"
#include "assay/predict/traces/intervals.hpp"

namespace assay::predict {

/// Which steps of a trace are looked at.
struct StepChoice {
  std::string mark;                  ///< part of the name of the annotation that is a step; empty: ProfilerStep
  std::optional<std::int64_t> only;  ///< the step of this number alone, counted from 1
  std::string input = "enumerate(DataLoader)";  ///< part of the name of annotations in which the host waits for input
};

/// A work of the window, with where the host launched it.
struct LaunchedWork {
  GpuWork work;
  std::optional<std::int64_t> launched_ns;  ///< when the call began; none: the trace does not show it
  std::int64_t thread = 0;                  ///< of the call
};

/// The steps of a rank that are looked at: from the beginning of the first until the host has ended the last and the
/// device all that was launched within.
struct TraceWindow {
  const GpuTrace* trace = nullptr;
  std::int64_t begin_ns = 0;
  std::int64_t host_end_ns = 0;  ///< of the last step
  std::int64_t end_ns = 0;
  std::int64_t steps = 1;
  bool is_marked = false;           ///< false: no step is marked, and all of the trace counts as one
  std::vector<LaunchedWork> works;  ///< in the order of their beginnings
  TimeSpans input;                  ///< the host waits for input

  double step_seconds() const { return 1e-9 * static_cast<double>(end_ns - begin_ns) / static_cast<double>(steps); }
};

/// Throws Error{bad_input} where nothing ran on a device, with the reason that the trace shows, and Error{usage} where
/// it has no such step.
TraceWindow window_of(const GpuTrace& trace, const StepChoice& choice);

}  // namespace assay::predict
