#pragma once

#include <optional>
#include <vector>

#include "assay/predict/threads/operator_times.hpp"

namespace assay::predict {

/// A step of the network that laws are fitted to.
struct MeasuredSetting {
  ThreadSetting setting;
  double seconds = 0;
  std::optional<double> cpus;  ///< in use, on average
  OperatorTimes times;         ///< with one pool alone
};

/// How well the laws say what they were fitted to.
struct ThreadLawPoint {
  ThreadSetting setting;
  double measured_seconds = 0;
  double predicted_seconds = 0;
};

template <typename V>
void describe(V& v, ThreadLawPoint& p) {
  required(v, "setting", p.setting);
  required(v, "measured_seconds", p.measured_seconds);
  required(v, "predicted_seconds", p.predicted_seconds);
}

struct ThreadLawFit {
  ThreadLaws laws;
  std::vector<ThreadLawPoint> points;
};

/// Laws of one framework on one machine, from steps of one network: the first with one pool of one thread, others with
/// one pool of several threads, with several pools of one thread, and with both, which is more than there are cores.
///
/// - Operators: least squares of t_T - t_1 / T = serial t_1 (1 - 1/T) + fork, heavy and light ones apart.
/// - Spinning: of the CPUs in use, what work does not explain.
/// - Handing over: what explains the steps with several pools best. Where they are not a tenth faster than with one,
/// the
///   framework counts as one that runs one operator at a time: both explain it, and this needs less.
/// - Crowding: what explains the steps with several pools and threads best.
///
/// Threads within operators count as shared, as they are in ONNX Runtime and TensorFlow: two cores cannot tell.
/// Throws Error{usage} where there is nothing with several threads.
ThreadLawFit fit_thread_laws(const std::vector<MeasuredSetting>& measured, std::int64_t cores);

}  // namespace assay::predict
