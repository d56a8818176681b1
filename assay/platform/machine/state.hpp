#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay::platform {

/// What a machine is like at a moment: state of a run, no part of the machine's identity. Null: cannot be read.
struct MachineState {
  std::optional<std::string> kernel;
  std::optional<std::string> hypervisor;  ///< as it names itself to the CPUs
  std::optional<std::string> governor;    ///< of the CPUs allowed; several with "," between them
  std::optional<bool> turbo;
  std::optional<std::int64_t> frequency_khz;  ///< of the first CPU allowed
  std::optional<std::string> huge_pages;      ///< always, madvise or never
  std::optional<std::string> clocksource;
  std::optional<std::vector<double>> load;  ///< average runnable threads over 1, 5 and 15 minutes
  std::optional<std::int64_t> memory_available_bytes;
  std::optional<std::int64_t> swap_total_bytes;
  std::optional<std::int64_t> swap_used_bytes;
  std::optional<std::int64_t> throttled_periods;  ///< in which a CPU quota stopped this process's groups, ever
  std::optional<std::int64_t> throttled_ns;
};

template <typename V>
void describe(V& v, MachineState& s) {
  v("kernel", s.kernel);
  v("hypervisor", s.hypervisor);
  v("governor", s.governor);
  v("turbo", s.turbo);
  v("frequency_khz", s.frequency_khz);
  v("huge_pages", s.huge_pages);
  v("clocksource", s.clocksource);
  v("load", s.load);
  v("memory_available_bytes", s.memory_available_bytes);
  v("swap_total_bytes", s.swap_total_bytes);
  v("swap_used_bytes", s.swap_used_bytes);
  v("throttled_periods", s.throttled_periods);
  v("throttled_ns", s.throttled_ns);
}

/// The state now, for a process that may use `cpus`. `root` stands for / in every path.
MachineState read_state(const std::vector<std::int64_t>& cpus, const std::filesystem::path& root = "/");

}  // namespace assay::platform
