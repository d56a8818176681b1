#include "assay/platform/counters.hpp"

#include <unistd.h>

#include <array>
#include <charconv>

#include "assay/core/clock.hpp"
#include "assay/platform/cgroup.hpp"
#include "assay/platform/proc.hpp"

namespace assay::platform {
namespace {

std::optional<std::int64_t> difference(const std::optional<std::int64_t>& before,
                                       const std::optional<std::int64_t>& after) {
  // A sum over threads can fall when threads end; a fall tells nothing and is null.
  if (!before || !after || *after < *before) return std::nullopt;
  return *after - *before;
}

std::optional<std::int64_t> read_throttled() {
  static const auto directories = cgroup_directories("cpu");
  const auto throttling = read_throttling(directories);
  return throttling ? std::optional(throttling->throttled_ns) : std::nullopt;
}

std::optional<std::int64_t> read_swap_pages() {
  const auto text = read_small_file("/proc/vmstat");
  if (!text) return std::nullopt;
  const auto in = integer_after(*text, "pswpin ");
  const auto out = integer_after(*text, "pswpout ");
  if (!in || !out) return std::nullopt;
  return *in + *out;
}

}  // namespace

void read_cpu_times(const std::string& proc_stat, const std::vector<std::int64_t>& cpus, Counters& counters) {
  static const std::int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  std::int64_t busy = 0;
  std::int64_t steal = 0;
  for (const auto cpu : cpus) {
    const std::string key = "\ncpu" + std::to_string(cpu) + " ";
    const auto at = proc_stat.find(key);
    if (at == std::string::npos) return;
    // user nice system idle iowait irq softirq steal
    std::array<std::int64_t, 8> times{};
    const char* next = proc_stat.data() + at + key.size();
    const char* end = proc_stat.data() + proc_stat.size();
    for (auto& time : times) {
      const auto [rest, error] = std::from_chars(next, end, time);
      if (error != std::errc()) return;
      next = rest + 1;
    }
    busy += times[0] + times[1] + times[2] + times[5] + times[6];
    steal += times[7];
  }
  counters.busy_ns = busy * tick_ns;
  counters.steal_ns = steal * tick_ns;
}

std::optional<std::int64_t> read_pressure_total(const std::string& pressure) {
  if (pressure.rfind("some ", 0) != 0) return std::nullopt;
  const auto at = pressure.find("total=");
  if (at == std::string::npos || at > pressure.find('\n')) return std::nullopt;
  std::int64_t microseconds = 0;
  const char* end = pressure.data() + pressure.size();
  if (std::from_chars(pressure.data() + at + 6, end, microseconds).ec != std::errc()) return std::nullopt;
  return microseconds * 1000;
}

Counters read_counters(const std::vector<std::int64_t>& cpus, const std::vector<pid_t>& processes) {
  Counters counters;
  counters.tree = tree_use(processes);
  counters.self = tree_use({getpid()});
  if (const auto stat = read_small_file("/proc/stat")) read_cpu_times(*stat, cpus, counters);
  if (const auto pressure = read_small_file("/proc/pressure/cpu"))
    counters.cpu_pressure_ns = read_pressure_total(*pressure);
  counters.throttled_ns = read_throttled();
  counters.swap_pages = read_swap_pages();
  counters.at_ns = monotonic_ns();
  return counters;
}

Disturbance between(const Counters& before, const Counters& after, const std::vector<std::int64_t>& cpus) {
  Disturbance d;
  d.window_ns = after.at_ns - before.at_ns;
  d.cpus = static_cast<std::int64_t>(cpus.size());
  d.steal_ns = difference(before.steal_ns, after.steal_ns);
  d.cpu_pressure_ns = difference(before.cpu_pressure_ns, after.cpu_pressure_ns);
  d.throttled_ns = difference(before.throttled_ns, after.throttled_ns);
  d.involuntary_switches = difference(before.tree.involuntary_switches, after.tree.involuntary_switches);
  d.cpu_ns = difference(before.tree.cpu_ns, after.tree.cpu_ns);
  d.wait_ns = difference(before.tree.wait_ns, after.tree.wait_ns);
  if (const auto busy = difference(before.busy_ns, after.busy_ns); busy && d.cpu_ns) {
    const std::int64_t self = difference(before.self.cpu_ns, after.self.cpu_ns).value_or(0);
    d.other_cpu_ns = std::max<std::int64_t>(0, *busy - *d.cpu_ns - self);
  }
  if (const auto pages = difference(before.swap_pages, after.swap_pages)) d.swap_bytes = *pages * sysconf(_SC_PAGESIZE);
  if (!cpus.empty()) {
    d.frequency_khz =
        read_integer_file("/sys/devices/system/cpu/cpu" + std::to_string(cpus.front()) + "/cpufreq/scaling_cur_freq");
  }
  return d;
}

}  // namespace assay::platform
