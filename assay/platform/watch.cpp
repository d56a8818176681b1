#include "assay/platform/watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "assay/core/clock.hpp"
#include "assay/platform/counters.hpp"
#include "assay/platform/probe.hpp"
#include "assay/platform/process.hpp"

namespace assay::platform {
namespace {

constexpr std::size_t kMostProcesses = 5;
constexpr std::size_t kMostProbes = 10'000;

/// What others used between two looks, on the CPUs that are watched.
std::vector<ProcessUse> busiest(const std::vector<ProcessTime>& before, const std::vector<ProcessTime>& after,
                                const std::vector<std::int64_t>& cpus) {
  std::map<std::pair<pid_t, std::int64_t>, std::int64_t> earlier;
  for (const auto& one : before) earlier[{one.pid, one.start_ticks}] = one.cpu_ns;
  std::vector<ProcessUse> uses;
  for (const auto& one : after) {
    if (one.pid == getpid() || std::find(cpus.begin(), cpus.end(), one.cpu) == cpus.end()) continue;
    const auto it = earlier.find({one.pid, one.start_ticks});
    const std::int64_t used = one.cpu_ns - (it == earlier.end() ? 0 : it->second);  // else it began meanwhile
    if (used > 0) uses.push_back({one.pid, one.name, used});
  }
  std::sort(uses.begin(), uses.end(), [](const ProcessUse& a, const ProcessUse& b) { return a.cpu_ns > b.cpu_ns; });
  if (uses.size() > kMostProcesses) uses.resize(kMostProcesses);
  return uses;
}

}  // namespace

Watch watch(const std::vector<std::int64_t>& cpus, double seconds) {
  Watch seen;
  SpeedProbe probe;
  probe.run();  // the first finds caches cold
  const auto processes = process_times();
  const Counters before = read_counters(cpus, {});
  const std::int64_t end = monotonic_ns() + static_cast<std::int64_t>(seconds * 1e9);
  while (monotonic_ns() < end && seen.probe_ns.size() < kMostProbes) seen.probe_ns.push_back(probe.run());
  const Counters after = read_counters(cpus, {});
  seen.processes = busiest(processes, process_times(), cpus);
  seen.window_ns = after.at_ns - before.at_ns;
  seen.cpus = static_cast<std::int64_t>(cpus.size());
  if (before.self_cpu_ns && after.self_cpu_ns) seen.self_ns = *after.self_cpu_ns - *before.self_cpu_ns;
  if (before.busy_ns && after.busy_ns) seen.busy_ns = *after.busy_ns - *before.busy_ns;
  if (before.steal_ns && after.steal_ns) seen.steal_ns = *after.steal_ns - *before.steal_ns;
  return seen;
}

}  // namespace assay::platform
