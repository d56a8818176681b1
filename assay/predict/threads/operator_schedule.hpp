#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/predict/threads/thread_laws.hpp"

namespace assay::predict {

/// An operator of a network, with the time that one core takes for it.
struct OperatorTime {
  std::string name;
  bool heavy = false;              ///< a convolution or a matrix product
  double seconds = 0;              ///< 0: joined with another one, so that it costs nothing of its own
  std::vector<std::size_t> after;  ///< earlier operators whose outputs it needs
};

template <typename V>
void describe(V& v, OperatorTime& o) {
  required(v, "name", o.name);
  required(v, "heavy", o.heavy);
  required(v, "seconds", o.seconds);
  v("after", o.after);
}

/// Where operators run.
struct ThreadMachine {
  std::int64_t cores = 1;
  std::optional<double> memory_cores;  ///< so many cores use up the memory's bandwidth; null: no limit
};

template <typename V>
void describe(V& v, ThreadMachine& m) {
  required(v, "cores", m.cores);
  v("memory_cores", m.memory_cores);
}

/// Numbers of threads, and the CPUs' time that a control group leaves.
struct ThreadSetting {
  std::int64_t inter_op = 1;    ///< operators at once
  std::int64_t intra_op = 1;    ///< threads of one operator
  std::optional<double> quota;  ///< CPUs; null: all

  bool operator==(const ThreadSetting&) const = default;
};

template <typename V>
void describe(V& v, ThreadSetting& s) {
  required(v, "inter_op", s.inter_op);
  required(v, "intra_op", s.intra_op);
  v("quota", s.quota);
}

/// One step under a setting.
struct ThreadPrediction {
  ThreadSetting setting;
  double seconds = 0;      ///< on average, pauses under the quota included
  double cpu_seconds = 0;  ///< that its threads use, spinning included
};

template <typename V>
void describe(V& v, ThreadPrediction& p) {
  required(v, "setting", p.setting);
  required(v, "seconds", p.seconds);
  required(v, "cpu_seconds", p.cpu_seconds);
}

/// Plays one step: operators begin in the order in which they become ready, the earlier one of the graph first, at most
/// inter_op at once. While k run, each has intra_op threads (own), or 1 + (intra_op - 1) / k (shared). More threads
/// than cores share them evenly, those that spin too. Light operators together are never faster than `memory_cores`
/// cores. The quota stretches the step to its CPU time over the quota.
///
/// Precondition: `after` names earlier operators. Throws Error{usage} where a number of the setting is below 1, or the
/// quota is not above 0.
ThreadPrediction schedule_step(const std::vector<OperatorTime>& operators, const ThreadLaws& laws,
                               const ThreadMachine& machine, const ThreadSetting& setting);

/// The longest chain of operators, each on one core: no number of pools makes a step shorter, as long as operators have
/// one thread each.
double critical_seconds(const std::vector<OperatorTime>& operators);

/// The fastest; of those within a thousandth of it the one with the fewest threads. Precondition: there are some.
std::size_t fastest_setting(const std::vector<ThreadPrediction>& predictions);

}  // namespace assay::predict
