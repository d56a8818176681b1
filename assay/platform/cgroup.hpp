#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::platform {

/// What the control groups around this process allow it. Null: no limit, or none that can be read.
struct CgroupLimits {
  std::optional<double> cpus;  ///< CPU time per time: 1.5 is one and a half CPUs. The tightest of all groups around it
  std::optional<std::vector<std::int64_t>> cpuset;  ///< CPUs, ascending
  std::optional<std::int64_t> memory_bytes;         ///< the tightest of all groups around it
};

/// How often and how long a quota stopped this process's groups since they were made, summed over the groups around it.
struct Throttling {
  std::int64_t periods = 0;
  std::int64_t throttled_periods = 0;
  std::int64_t throttled_ns = 0;
};

/// Directories of the control groups around this process, the innermost first, for a controller ("cpu", "memory",
/// "cpuset"): of version 1 where it is mounted so, else of version 2; empty where there is neither. `root` stands for /
/// in every path, so that recorded trees can be read.
std::vector<std::filesystem::path> cgroup_directories(const std::string& controller,
                                                      const std::filesystem::path& root = "/");

CgroupLimits read_cgroup_limits(const std::filesystem::path& root = "/");

/// CPU time per time that the tightest of these groups allows; null where none has a quota.
std::optional<double> read_quota(const std::vector<std::filesystem::path>& cpu_directories);

/// Null where no group counts it.
std::optional<Throttling> read_throttling(const std::vector<std::filesystem::path>& cpu_directories);

/// "0-3,8" as 0 1 2 3 8, ascending; null where the text is no such list or names a CPU above 8191.
std::optional<std::vector<std::int64_t>> parse_cpu_list(const std::string& text);

/// The reverse of parse_cpu_list, for ascending numbers.
std::string cpu_list(const std::vector<std::int64_t>& cpus);

}  // namespace assay::platform
