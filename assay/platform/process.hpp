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

/// A process and the CPU time it has used so far.
struct ProcessTime {
  pid_t pid = 0;
  std::int64_t start_ticks = 0;  ///< with the pid it names one process
  std::string name;              ///< fit for a terminal
  std::int64_t cpu = 0;          ///< on which it ran last
  std::int64_t cpu_ns = 0;       ///< of all its threads, in steps of 10 ms
};

/// Every process that can be seen from here.
std::vector<ProcessTime> process_times();

/// Resident bytes of some processes in all; pages they share count for each.
std::int64_t resident_bytes(const std::vector<pid_t>& processes);

/// The same with shared pages counted once in all. Exact, and too slow for every tick; null where the kernel does not
/// tell.
std::optional<std::int64_t> proportional_bytes(const std::vector<pid_t>& processes);

}  // namespace assay::platform
