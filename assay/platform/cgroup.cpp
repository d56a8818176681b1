#include "assay/platform/cgroup.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "assay/platform/proc.hpp"

namespace assay::platform {
namespace {

namespace fs = std::filesystem;

// A limit of version 1 that nobody set reads as the largest multiple of a page.
constexpr std::int64_t kNoMemoryLimit = 1LL << 60;
constexpr std::int64_t kMostCpus = 8192;

std::vector<std::string> words(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, separator);) out.push_back(word);
  return out;
}

bool has_word(const std::string& list, const std::string& word) {
  const auto all = words(list, ',');
  return std::find(all.begin(), all.end(), word) != all.end();
}

/// Where a hierarchy is mounted, and which of its groups is the root of what one sees there.
struct Mount {
  std::string point;
  std::string group;
  bool unified = false;
};

/// The mount of a controller of version 1, else that of version 2; null where there is neither.
std::optional<Mount> find_mount(const std::string& controller, const std::string& mountinfo) {
  std::optional<Mount> unified;
  for (const auto& line : words(mountinfo, '\n')) {
    // 36 35 98:0 /group /mount/point rw,noatime shared:1 - cgroup source rw,cpu,cpuacct
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const auto before = words(line.substr(0, dash), ' ');
    const auto behind = words(line.substr(dash + 3), ' ');
    if (before.size() < 5 || behind.empty()) continue;
    if (behind[0] == "cgroup2" && !unified) unified = Mount{before[4], before[3], true};
    if (behind[0] == "cgroup" && behind.size() > 2 && has_word(behind[2], controller))
      return Mount{before[4], before[3], false};
  }
  return unified;
}

/// The group of this process in the hierarchy of `mount`, from /proc/self/cgroup: "4:cpu,cpuacct:/group", "0::/group".
std::optional<std::string> find_group(const Mount& mount, const std::string& controller, const std::string& text) {
  for (const auto& line : words(text, '\n')) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto names = line.substr(first + 1, second - first - 1);
    if (mount.unified ? names.empty() : has_word(names, controller)) return line.substr(second + 1);
  }
  return std::nullopt;
}

/// `group` as seen below a mount whose root is `top`: a container sees only its own part of the tree.
fs::path below(const std::string& group, const std::string& top) {
  if (group.find("..") != std::string::npos) return {};  // outside what can be seen here
  if (top == "/") return fs::path(group).relative_path();
  if (group == top) return {};
  if (group.compare(0, top.size() + 1, top + "/") == 0) return group.substr(top.size() + 1);
  return fs::path(group).relative_path();
}

template <typename T>
void keep_smaller(std::optional<T>& least, const std::optional<T>& value) {
  if (value && (!least || *value < *least)) least = value;
}

/// Quota of one group, both versions.
std::optional<double> quota_of(const fs::path& directory) {
  if (const auto text = read_word(directory / "cpu.max")) {
    const auto parts = words(*text, ' ');
    if (parts.size() != 2 || parts[0] == "max") return std::nullopt;
    const double period = std::strtod(parts[1].c_str(), nullptr);
    const double quota = std::strtod(parts[0].c_str(), nullptr);
    return quota > 0 && period > 0 ? std::optional(quota / period) : std::nullopt;
  }
  const auto quota = read_integer_file(directory / "cpu.cfs_quota_us");
  const auto period = read_integer_file(directory / "cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;  // -1: none
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<std::int64_t> memory_of(const fs::path& directory) {
  auto limit = read_integer_file(directory / "memory.max");  // "max" is no number, so null
  if (!limit) limit = read_integer_file(directory / "memory.limit_in_bytes");
  return limit && *limit < kNoMemoryLimit ? limit : std::nullopt;
}

std::optional<std::vector<std::int64_t>> cpuset_of(const fs::path& directory) {
  for (const char* name : {"cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"}) {
    const auto text = read_word(directory / name);
    if (text && !text->empty()) return parse_cpu_list(*text);
  }
  return std::nullopt;
}

}  // namespace

std::vector<fs::path> cgroup_directories(const std::string& controller, const fs::path& root) {
  const auto mountinfo = read_small_file(root / "proc/self/mountinfo");
  const auto groups = read_small_file(root / "proc/self/cgroup");
  if (!mountinfo || !groups) return {};
  const auto mount = find_mount(controller, *mountinfo);
  const auto group = mount ? find_group(*mount, controller, *groups) : std::nullopt;
  if (!group) return {};
  const fs::path top = root / fs::path(mount->point).relative_path();
  std::vector<fs::path> directories;
  std::error_code ignored;
  for (fs::path inner = below(*group, mount->group); !inner.empty(); inner = inner.parent_path()) {
    if (fs::is_directory(top / inner, ignored)) directories.push_back(top / inner);
  }
  directories.push_back(top);
  return directories;
}

std::optional<double> read_quota(const std::vector<fs::path>& cpu_directories) {
  std::optional<double> least;
  for (const auto& directory : cpu_directories) keep_smaller(least, quota_of(directory));
  return least;
}

CgroupLimits read_cgroup_limits(const fs::path& root) {
  CgroupLimits limits;
  limits.cpus = read_quota(cgroup_directories("cpu", root));
  for (const auto& directory : cgroup_directories("memory", root))
    keep_smaller(limits.memory_bytes, memory_of(directory));
  for (const auto& directory : cgroup_directories("cpuset", root)) {
    limits.cpuset = cpuset_of(directory);  // of the innermost that says something: outer ones allow at least as much
    if (limits.cpuset) break;
  }
  return limits;
}

std::optional<Throttling> read_throttling(const std::vector<fs::path>& cpu_directories) {
  std::optional<Throttling> sum;
  for (const auto& directory : cpu_directories) {
    const auto text = read_small_file(directory / "cpu.stat");
    if (!text) continue;
    auto ns = integer_after(*text, "throttled_time ");                                        // version 1
    if (const auto us = integer_after(*text, "throttled_usec "); us && !ns) ns = *us * 1000;  // version 2
    if (!ns) continue;
    if (!sum) sum.emplace();
    sum->throttled_ns += *ns;
    sum->periods += integer_after(*text, "nr_periods ").value_or(0);
    sum->throttled_periods += integer_after(*text, "nr_throttled ").value_or(0);
  }
  return sum;
}

std::optional<std::vector<std::int64_t>> parse_cpu_list(const std::string& text) {
  std::vector<std::int64_t> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::int64_t first = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc()) return std::nullopt;
    std::int64_t last = first;
    if (read.ptr < end && *read.ptr == '-') {
      read = std::from_chars(read.ptr + 1, end, last);
      if (read.ec != std::errc()) return std::nullopt;
    }
    if (first < 0 || last < first || last >= kMostCpus) return std::nullopt;
    for (std::int64_t cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (read.ptr < end && *read.ptr != ',') return std::nullopt;
    at = read.ptr + 1;
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string cpu_list(const std::vector<std::int64_t>& cpus) {
  std::string out;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!out.empty()) out += ",";
    out += std::to_string(cpus[i]);
    if (last > i) out += "-" + std::to_string(cpus[last]);
    i = last + 1;
  }
  return out;
}

}  // namespace assay::platform
