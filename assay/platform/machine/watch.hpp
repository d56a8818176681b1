#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"
#include "assay/platform/process.hpp"

namespace assay::platform {

/// What went on during a short while in which this process ran the speed probe on one CPU.
struct Watch {
  std::int64_t window_ns = 0;
  std::int64_t cpus = 0;                ///< number of CPUs that were watched
  std::optional<std::int64_t> self_ns;  ///< CPU time of this process
  std::optional<std::int64_t> busy_ns;  ///< CPU time of all on these CPUs, this process included
  std::optional<std::int64_t> steal_ns;
  std::vector<ProcessUse> processes;   ///< the busiest others on these CPUs, the first uses most
  std::vector<std::int64_t> probe_ns;  ///< times of the speed probe, in order
};

/// Watches `cpus` for about `seconds`.
Watch watch(const std::vector<std::int64_t>& cpus, double seconds);

}  // namespace assay::platform
