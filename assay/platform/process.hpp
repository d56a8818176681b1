#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::platform {

/// Random id of this boot of the kernel; empty where it cannot be read.
std::string boot_id();

/// The pid namespace of this process, as the kernel names it: a pid means something only inside of one. Empty where it
/// cannot be read.
std::string pid_namespace();

std::string host_name();

/// Start time of a process in clock ticks since boot; null where there is no such process. With boot id and pid it
/// names one process for ever.
std::optional<std::int64_t> start_ticks(pid_t pid);

/// Whether it was stopped by a signal, as SIGSTOP does.
bool is_stopped(pid_t pid);

/// Every process below `root` in the tree of parents, `root` itself not included.
std::vector<pid_t> descendants(pid_t root);

/// A process that was started with a certain variable.
struct MarkedProcess {
  pid_t pid = 0;
  std::string name;   ///< fit for a terminal
  std::string value;  ///< of the variable
};

/// Processes of this user whose environment has `variable` with a value that begins so, this process not included.
std::vector<MarkedProcess> processes_with_variable(const std::string& variable, const std::string& begin);

/// Those whose environment has `entry` ("NAME=value").
std::vector<pid_t> processes_with_environment(const std::string& entry);

/// Names of the processes above one, its parent first.
std::vector<std::string> names_above(pid_t pid);

/// A number of /proc/PID/stat, by its place in proc(5); null where there is no such process or field.
std::optional<std::int64_t> stat_number(pid_t pid, std::size_t field);

/// What one thread has used so far.
struct ThreadUse {
  std::int64_t cpu_ns = 0;
  std::int64_t wait_ns = 0;  ///< runnable but not running
  std::optional<std::int64_t> involuntary_switches;
};

/// What some processes have used so far. Null where it cannot be read.
struct TreeUse {
  /// Also of threads that have ended, and of children that have ended and were waited for: for the whole of a tree it
  /// only grows. (Where a process ignores SIGCHLD the kernel drops what its children used.)
  std::optional<std::int64_t> cpu_ns;
  std::map<pid_t, ThreadUse> threads;  ///< those alive, by their id
};

TreeUse tree_use(const std::vector<pid_t>& processes);

/// A process and the CPU time it has used so far.
struct ProcessTime {
  pid_t pid = 0;
  std::int64_t start_ticks = 0;  ///< with the pid it names one process
  std::string name;              ///< fit for a terminal
  std::int64_t cpu_ns = 0;       ///< of all its threads
};

/// Every process that can be seen from here.
std::vector<ProcessTime> process_times();

/// What a process used between two looks.
struct ProcessUse {
  pid_t pid = 0;
  std::string name;
  std::int64_t cpu_ns = 0;
};

/// The processes that used most since `before` was read, at most `most`, of those that ran last on one of `cpus`. This
/// process and what is below it are left out. Looks at every process: not for a time at which anything is measured.
std::vector<ProcessUse> busiest_since(const std::vector<ProcessTime>& before, const std::vector<std::int64_t>& cpus,
                                      std::size_t most);

/// A process by its name, and how many CPUs it kept busy.
struct BusyProcess {
  pid_t pid = 0;
  std::string name;
  double cpus = 0;
};

/// The same from two looks `interval_ns` apart, of processes that keep at least a tenth of a CPU busy.
std::vector<BusyProcess> busiest_processes(const std::vector<std::int64_t>& cpus, std::size_t most,
                                           std::int64_t interval_ns);

/// Resident bytes of some processes in all; pages they share count for each.
std::int64_t resident_bytes(const std::vector<pid_t>& processes);

/// The same with shared pages counted once in all. Exact, and too slow for every tick; null where the kernel does not
/// tell.
std::optional<std::int64_t> proportional_bytes(const std::vector<pid_t>& processes);

}  // namespace assay::platform
