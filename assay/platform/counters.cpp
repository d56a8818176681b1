#include "assay/platform/counters.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "assay/core/clock.hpp"
#include "assay/core/text/number.hpp"
#include "assay/platform/cgroup.hpp"
#include "assay/platform/proc.hpp"

namespace assay::platform {
namespace {

constexpr double kActive = 0.2;
constexpr double kWanting = 0.5;
constexpr std::int64_t kTickErrorNs = 40'000'000;  // children's times come in ticks of 10 ms, user and system apart
constexpr std::int64_t kShortestNs = 100'000'000;  // a shorter time tells nothing of what a thread does

/// What Counters::so_far has: a counter is a line here and one in read_counters().
constexpr std::array kGrowing{&Disturbance::steal_ns, &Disturbance::cpu_pressure_ns, &Disturbance::throttled_ns,
                              &Disturbance::swap_bytes, &Disturbance::major_faults};

std::optional<std::int64_t> difference(const std::optional<std::int64_t>& before,
                                       const std::optional<std::int64_t>& after) {
  // A sum over threads can fall when threads end; a fall tells nothing and is null.
  if (!before || !after || *after < *before) return std::nullopt;
  return *after - *before;
}

void read_cgroup(Counters& counters) {
  static const auto directories = cgroup_directories("cpu");
  if (const auto throttling = read_throttling(directories)) counters.so_far.throttled_ns = throttling->throttled_ns;
  counters.quota_cpus = read_quota(directories);
}

/// What the threads that are alive did between two readings.
struct ThreadsDelta {
  std::int64_t cpu_ns = 0;
  std::int64_t wait_ns = 0;
  std::int64_t involuntary_switches = 0;
  std::int64_t active = 0;
};

ThreadsDelta compare_threads(const TreeUse& before, const TreeUse& after, std::int64_t measured_ns) {
  ThreadsDelta sum;
  const auto measured = static_cast<double>(measured_ns);
  for (const auto& [id, use] : after.threads) {
    ThreadUse earlier;  // of a thread that is new: nothing
    const auto known = before.threads.find(id);
    if (known != before.threads.end() && known->second.cpu_ns <= use.cpu_ns) earlier = known->second;
    const auto ran = static_cast<double>(use.cpu_ns - earlier.cpu_ns);
    const auto waited = static_cast<double>(use.wait_ns - earlier.wait_ns);
    if (ran >= kActive * measured || ran + waited >= kWanting * measured) ++sum.active;
    sum.cpu_ns += use.cpu_ns - earlier.cpu_ns;
    sum.wait_ns += use.wait_ns - earlier.wait_ns;
    sum.involuntary_switches += use.involuntary_switches.value_or(0) - earlier.involuntary_switches.value_or(0);
  }
  return sum;
}

void add_threads(const Counters& before, const Counters& after, Disturbance& d) {
  if (after.tree.threads.empty()) return;
  d.threads = static_cast<std::int64_t>(after.tree.threads.size());
  const auto sum = compare_threads(before.tree, after.tree, *d.measured_ns);
  // Where threads that have ended did much of the work, those that are left tell little of it.
  const std::int64_t ended = d.cpu_ns ? *d.cpu_ns - sum.cpu_ns : 0;
  if (ended > kTickErrorNs && ended > sum.cpu_ns / 10) return;
  d.wait_ns = sum.wait_ns;
  d.involuntary_switches = sum.involuntary_switches;
  if (*d.measured_ns >= kShortestNs) d.active_threads = sum.active;
}

std::optional<std::int64_t> own_cpu_ns() {
  timespec time{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) != 0) return std::nullopt;
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::optional<std::int64_t> read_swap_bytes() {
  const auto text = read_small_file("/proc/vmstat");
  if (!text) return std::nullopt;
  const auto in = integer_after(*text, "pswpin ");
  const auto out = integer_after(*text, "pswpout ");
  if (!in || !out) return std::nullopt;
  return (*in + *out) * sysconf(_SC_PAGESIZE);
}

/// Of processes, and of their children that have ended and were waited for.
std::optional<std::int64_t> read_major_faults(const std::vector<pid_t>& processes) {
  std::optional<std::int64_t> sum;
  for (const pid_t pid : processes) {
    const auto own = stat_number(pid, 12);
    const auto of_children = stat_number(pid, 13);
    if (own && of_children) sum = sum.value_or(0) + *own + *of_children;
  }
  return sum;
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
    auto rest = std::string_view(proc_stat).substr(at + key.size());
    for (auto& time : times) {
      const auto number = take_number<std::int64_t>(rest);
      if (!number) return;
      time = *number;
      if (!rest.empty()) rest.remove_prefix(1);
    }
    busy += times[0] + times[1] + times[2] + times[5] + times[6];
    steal += times[7];
  }
  counters.busy_ns = busy * tick_ns;
  counters.so_far.steal_ns = steal * tick_ns;
}

std::optional<std::int64_t> read_pressure_total(const std::string& pressure) {
  if (pressure.rfind("some ", 0) != 0) return std::nullopt;
  const auto at = pressure.find("total=");
  if (at == std::string::npos || at > pressure.find('\n')) return std::nullopt;
  auto rest = std::string_view(pressure).substr(at + 6);
  const auto microseconds = take_number<std::int64_t>(rest);
  return microseconds ? std::optional(*microseconds * 1000) : std::nullopt;
}

Counters read_counters(const std::vector<std::int64_t>& cpus, const std::vector<pid_t>& processes) {
  Counters counters;
  counters.tree = tree_use(processes);
  counters.self_cpu_ns = own_cpu_ns();
  if (const auto stat = read_small_file("/proc/stat")) read_cpu_times(*stat, cpus, counters);
  if (const auto pressure = read_small_file("/proc/pressure/cpu"))
    counters.so_far.cpu_pressure_ns = read_pressure_total(*pressure);
  read_cgroup(counters);
  counters.so_far.swap_bytes = read_swap_bytes();
  counters.so_far.major_faults = read_major_faults(processes);
  counters.at_ns = monotonic_ns();
  return counters;
}

Disturbance between(const Counters& before, const Counters& after, const std::vector<std::int64_t>& cpus,
                    std::int64_t measured_ns) {
  Disturbance d;
  d.window_ns = after.at_ns - before.at_ns;
  d.measured_ns = std::min(measured_ns, *d.window_ns);  // a worker without real time claims more than there was
  d.cpus = static_cast<std::int64_t>(cpus.size());
  for (const auto counter : kGrowing) d.*counter = difference(before.so_far.*counter, after.so_far.*counter);
  d.quota_cpus = after.quota_cpus;
  d.cpu_ns = difference(before.tree.cpu_ns, after.tree.cpu_ns);
  d.assay_cpu_ns = difference(before.self_cpu_ns, after.self_cpu_ns);
  add_threads(before, after, d);
  if (const auto busy = difference(before.busy_ns, after.busy_ns); busy && d.cpu_ns) {
    d.other_cpu_ns = std::max<std::int64_t>(0, *busy - *d.cpu_ns - d.assay_cpu_ns.value_or(0));
  }
  if (!cpus.empty()) {
    d.frequency_khz =
        read_integer_file("/sys/devices/system/cpu/cpu" + std::to_string(cpus.front()) + "/cpufreq/scaling_cur_freq");
  }
  return d;
}

}  // namespace assay::platform
