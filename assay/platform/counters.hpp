#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/platform/process.hpp"

namespace assay::platform {

/// A reading of what disturbs a measurement; the difference of two is a Disturbance.
struct Counters {
  std::int64_t at_ns = 0;
  std::optional<std::int64_t> busy_ns;  ///< of the CPUs allowed, by anybody
  /// What only grows, counted since the machine or the processes began: each under the name that its difference has.
  Disturbance so_far;
  std::optional<double> quota_cpus;
  TreeUse tree;
  std::optional<std::int64_t> self_cpu_ns;  ///< of the calling process: the speed probe is nobody's disturbance
};

/// Reads everything now. `processes` are the worker and what it started; `cpus` are those it may use.
Counters read_counters(const std::vector<std::int64_t>& cpus, const std::vector<pid_t>& processes);

/// What happened between two readings; a counter that either lacks is null. `measured_ns` is the part of the time in
/// which the worker itself ran steps.
///
/// A thread counts as active where it ran for 20 % of that time (at 5 % a scheduling thread that hands out work would
/// count too), or ran or waited for a CPU for 50 % of it: of eight threads that share a CPU none runs for 20 %.
Disturbance between(const Counters& before, const Counters& after, const std::vector<std::int64_t>& cpus,
                    std::int64_t measured_ns);

/// Parts of read_counters that take text, so that recorded machines can be tested.
void read_cpu_times(const std::string& proc_stat, const std::vector<std::int64_t>& cpus, Counters& counters);
std::optional<std::int64_t> read_pressure_total(const std::string& pressure);

}  // namespace assay::platform
