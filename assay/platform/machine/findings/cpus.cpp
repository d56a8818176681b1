#include <fmt/format.h>

#include <algorithm>

#include "assay/platform/machine/findings/findings.hpp"

namespace assay::platform::findings {

std::optional<Finding> quota(const Situation& s) {
  const std::int64_t cpus = s.identity.threads;
  if (!s.identity.cpu_quota) return well(FindingCase::quota, fmt::format("none, {} CPUs may be used in full", cpus));
  const double quota = *s.identity.cpu_quota;
  const std::int64_t threads = std::clamp<std::int64_t>(static_cast<std::int64_t>(quota), 1, cpus);
  std::string seen = fmt::format("a quota of {:.4g} CPUs, and {} CPUs that may be used", quota, cpus);
  if (s.state.throttled_periods.value_or(0) > 0) {
    seen += fmt::format("; it has stopped this group {} times already", *s.state.throttled_periods);
  }
  return found(FindingCase::quota, Severity::warning, std::move(seen), {{"QUOTA", std::to_string(threads)}});
}

std::optional<Finding> cpuset(const Situation& s) {
  const std::int64_t cpus = s.identity.threads;
  if (cpus >= s.about.machine_cpus) return well(FindingCase::cpuset, fmt::format("all {} CPUs of the machine", cpus));
  return found(FindingCase::cpuset, Severity::note,
               fmt::format("{} of the machine's {} CPUs ({})", cpus, s.about.machine_cpus, s.about.cpu_list),
               {{"CPUS", std::to_string(cpus)}});
}

std::optional<Finding> smt(const Situation& s) {
  const std::int64_t cores = s.identity.cores;
  if (s.cores_shared > 0) {
    return found(FindingCase::shared_cores, Severity::warning,
                 fmt::format("{} of {} cores have a second thread that others may use", s.cores_shared, cores));
  }
  if (s.identity.threads <= cores) return well(FindingCase::second_threads, "one thread a core");
  return found(FindingCase::second_threads, Severity::note,
               fmt::format("{} threads on {} cores", s.identity.threads, cores),
               {{"CORES", std::to_string(cores)}, {"THREADS", std::to_string(s.identity.threads)}});
}

std::optional<Finding> governor(const Situation& s) {
  if (!s.state.governor) return std::nullopt;
  if (*s.state.governor == "performance") return well(FindingCase::governor, "performance");
  return found(FindingCase::governor, Severity::warning, *s.state.governor);
}

std::optional<Finding> turbo(const Situation& s) {
  if (!s.state.turbo) return std::nullopt;
  if (!*s.state.turbo) return well(FindingCase::turbo, "off");
  return found(FindingCase::turbo, Severity::note, "on");
}

std::optional<Finding> clocksource(const Situation& s) {
  if (!s.state.clocksource) return std::nullopt;
  const std::string& name = *s.state.clocksource;
  if (name == "tsc" || name == "arch_sys_counter" || name == "timebase") return well(FindingCase::slow_clock, name);
  // These read a counter of the CPU too, and correct it by what the hypervisor says.
  const bool cheap = name == "kvm-clock" || name.find("hyperv") != std::string::npos;
  std::string seen = name + ", not tsc";
  if (cheap) return found(FindingCase::clock_of_hypervisor, Severity::note, std::move(seen));
  return found(FindingCase::slow_clock, Severity::warning, std::move(seen));
}

}  // namespace assay::platform::findings
