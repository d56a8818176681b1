#include "assay/platform/machine/watch.hpp"

#include "assay/core/clock.hpp"
#include "assay/platform/counters.hpp"
#include "assay/platform/probe.hpp"

namespace assay::platform {
namespace {

constexpr std::size_t kMostProcesses = 5;
constexpr std::size_t kMostProbes = 10'000;

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
  seen.processes = busiest_since(processes, cpus, kMostProcesses);
  seen.window_ns = after.at_ns - before.at_ns;
  seen.cpus = static_cast<std::int64_t>(cpus.size());
  if (before.self_cpu_ns && after.self_cpu_ns) seen.self_ns = *after.self_cpu_ns - *before.self_cpu_ns;
  if (before.busy_ns && after.busy_ns) seen.busy_ns = *after.busy_ns - *before.busy_ns;
  const auto& stolen = after.so_far.steal_ns;
  if (before.so_far.steal_ns && stolen) seen.steal_ns = *stolen - *before.so_far.steal_ns;
  return seen;
}

}  // namespace assay::platform
