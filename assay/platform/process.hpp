#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::platform {

/// Random id of this boot of the kernel; empty where it cannot be read.
std::string boot_id();

std::string host_name();

/// Start time of a process in clock ticks since boot; null where there is no such process. With boot id and pid it
/// names one process for ever.
std::optional<std::int64_t> start_ticks(pid_t pid);

/// Every process below `root` in the tree of parents, `root` itself not included.
std::vector<pid_t> descendants(pid_t root);

/// Processes of this user whose environment has `entry` ("NAME=value"), this process not included.
std::vector<pid_t> processes_with_environment(const std::string& entry);

/// What the threads of some processes have used so far. Null where it cannot be read.
struct TreeUse {
  std::optional<std::int64_t> cpu_ns;
  std::optional<std::int64_t> wait_ns;  ///< runnable but not running
  std::optional<std::int64_t> involuntary_switches;
};

TreeUse tree_use(const std::vector<pid_t>& processes);

/// Resident bytes of some processes in all; pages they share count for each.
std::int64_t resident_bytes(const std::vector<pid_t>& processes);

/// The same with shared pages counted once in all. Exact, and too slow for every tick; null where the kernel does not
/// tell.
std::optional<std::int64_t> proportional_bytes(const std::vector<pid_t>& processes);

}  // namespace assay::platform
