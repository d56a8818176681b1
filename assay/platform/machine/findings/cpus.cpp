#include <fmt/format.h>

#include <algorithm>

#include "assay/platform/machine/findings/findings.hpp"

namespace assay::platform::findings {

std::optional<Finding> quota(const Situation& s) {
  const std::int64_t cpus = s.identity.threads;
  if (!s.identity.cpu_quota) return well("quota", fmt::format("none, {} CPUs may be used in full", cpus));
  const double quota = *s.identity.cpu_quota;
  const std::int64_t threads = std::clamp<std::int64_t>(static_cast<std::int64_t>(quota), 1, cpus);
  std::string seen = fmt::format("a quota of {:.4g} CPUs, and {} CPUs that may be used", quota, cpus);
  if (s.state.throttled_periods.value_or(0) > 0) {
    seen += fmt::format("; it has stopped this group {} times already", *s.state.throttled_periods);
  }
  return Finding{
      "quota", Severity::warning, std::move(seen),
      fmt::format("frameworks start a thread for each CPU ({}) and do not know the quota: when it is used up, "
                  "all stop until the next period",
                  cpus),
      fmt::format("measure with --intra-op {}, or give the container {} (a cpuset) in place of a quota", threads,
                  threads == 1 ? "one whole CPU" : fmt::format("{} whole CPUs", threads))};
}

std::optional<Finding> cpuset(const Situation& s) {
  const std::int64_t cpus = s.identity.threads;
  if (cpus >= s.about.machine_cpus) return well("cpuset", fmt::format("all {} CPUs of the machine", cpus));
  return Finding{
      "cpuset", Severity::note,
      fmt::format("{} of the machine's {} CPUs ({})", cpus, s.about.machine_cpus, s.about.cpu_list),
      "others may use the rest, and share caches, memory and clock; a framework that counts the machine's CPUs "
      "starts too many threads",
      fmt::format("measure with --intra-op {} or less", cpus)};
}

std::optional<Finding> smt(const Situation& s) {
  const std::int64_t cores = s.identity.cores;
  if (s.cores_shared > 0) {
    return Finding{
        "smt", Severity::warning,
        fmt::format("{} of {} cores have a second thread that others may use", s.cores_shared, cores),
        "whatever runs there takes up to half of the core, and no counter of yours shows it",
        "ask for whole cores, or switch the second threads off (echo off > /sys/devices/system/cpu/smt/control)"};
  }
  if (s.identity.threads <= cores) return well("smt", "one thread a core");
  return Finding{"smt", Severity::note, fmt::format("{} threads on {} cores", s.identity.threads, cores),
                 "arithmetic gains little from second threads, and two of your threads may land on one core",
                 fmt::format("compare --intra-op {} with --intra-op {}; --affinity compact keeps instances on cores of "
                             "their own",
                             cores, s.identity.threads)};
}

std::optional<Finding> governor(const Situation& s) {
  if (!s.state.governor) return std::nullopt;
  if (*s.state.governor == "performance") return well("governor", "performance");
  return Finding{
      "governor", Severity::warning, *s.state.governor,
      "the clock follows the load: short steps run slower than long ones, and the first ones slower than the rest",
      "cpupower frequency-set -g performance"};
}

std::optional<Finding> turbo(const Situation& s) {
  if (!s.state.turbo) return std::nullopt;
  if (!*s.state.turbo) return well("turbo", "off");
  return Finding{"turbo", Severity::note, "on",
                 "the clock depends on temperature and on how many cores are busy: one instance alone runs faster than "
                 "each of many",
                 "for small differences use --lockstep, or switch it off (echo 1 > "
                 "/sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > /sys/devices/system/cpu/cpufreq/boost)"};
}

std::optional<Finding> clocksource(const Situation& s) {
  if (!s.state.clocksource) return std::nullopt;
  const std::string& name = *s.state.clocksource;
  if (name == "tsc" || name == "arch_sys_counter" || name == "timebase") return well("clocksource", name);
  // These read a counter of the CPU too, and correct it by what the hypervisor says.
  const bool cheap = name == "kvm-clock" || name.find("hyperv") != std::string::npos;
  return Finding{
      "clocksource", cheap ? Severity::note : Severity::warning, fmt::format("{}, not tsc", name),
      cheap ? "each look at the clock goes through the hypervisor's page; steps below 10 us are inexact"
            : "each look at the clock is a system call of a microsecond or more: short steps are inexact",
      "see why the kernel left tsc (dmesg | grep -i tsc); boot with tsc=reliable where the CPU's counter is sound"};
}

}  // namespace assay::platform::findings
