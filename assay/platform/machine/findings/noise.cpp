#include <fmt/format.h>

#include <algorithm>

#include "assay/core/text/units.hpp"
#include "assay/platform/machine/findings/findings.hpp"

namespace assay::platform::findings {
namespace {

// The limits above which a run counts as disturbed; half of them is worth a note. cases.inc names them.
constexpr double kMostNeighbours = 0.10;
constexpr double kMostSteal = 0.02;
constexpr double kMostProbeSpread = 1.25;
constexpr double kNotedProbeSpread = 1.10;
constexpr std::int64_t kTickNs = 10'000'000;  // in which the kernel counts CPU time
constexpr std::size_t kFewestProbes = 8;

double percent(std::int64_t part, double whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / whole : 0;
}

/// "cc1plus 45 %, python3 30 %": of one CPU each. What no process accounts for is said too: other containers are not
/// seen.
std::string busiest(const Watch& w, std::int64_t others_ns) {
  const auto window = static_cast<double>(w.window_ns);
  std::string out;
  std::int64_t named = 0;
  for (const auto& process : w.processes) {
    if (percent(process.cpu_ns, window) < 2) continue;
    named += process.cpu_ns;
    out += fmt::format("{}{} ({}) {:.0f} %", out.empty() ? ": " : ", ", process.name, process.pid,
                       percent(process.cpu_ns, window));
  }
  if (named < others_ns / 2)
    out += fmt::format("{}processes that cannot be seen from here", out.empty() ? ": " : ", and ");
  return out + (named > 0 ? " of a CPU" : "");
}

}  // namespace

std::optional<Finding> host_lock(const Situation& s) {
  if (!s.host_lock_held) return std::nullopt;
  if (!*s.host_lock_held) return well(FindingCase::host_lock, "free, nothing is measured here right now");
  return found(FindingCase::host_lock, Severity::warning, "another Assay is measuring on this host right now");
}

std::optional<Finding> neighbours(const Situation& s) {
  const Watch& w = s.watch;
  if (!w.busy_ns || !w.self_ns || w.window_ns <= 0 || w.cpus <= 0) return std::nullopt;
  const std::int64_t others = std::max<std::int64_t>(0, *w.busy_ns - *w.self_ns);
  const double whole = static_cast<double>(w.window_ns) * static_cast<double>(w.cpus);
  const double share = static_cast<double>(others) / whole;
  std::string seen = fmt::format("others use {:.2g} of {} CPUs ({:.0f} %)",
                                 static_cast<double>(others) / static_cast<double>(w.window_ns), w.cpus, 100 * share);
  if (share < kMostNeighbours / 2 || others < 2 * kTickNs) {
    return well(FindingCase::neighbours, fmt::format("others use {:.0f} % of the CPUs", 100 * share));
  }
  return found(FindingCase::neighbours, share > kMostNeighbours ? Severity::warning : Severity::note,
               std::move(seen) + busiest(w, others));
}

std::optional<Finding> steal(const Situation& s) {
  const Watch& w = s.watch;
  if (!w.steal_ns || !w.busy_ns) return std::nullopt;
  // Of the time in which something wanted to run: an idle guest has nothing to be stolen.
  const double wanted = static_cast<double>(*w.busy_ns) + static_cast<double>(*w.steal_ns);
  const double share = wanted > 0 ? static_cast<double>(*w.steal_ns) / wanted : 0;
  if (share <= kMostSteal || *w.steal_ns < 2 * kTickNs) {
    return well(FindingCase::steal, fmt::format("{:.1f} % of the time wanted", 100 * share));
  }
  return found(FindingCase::steal, Severity::warning,
               fmt::format("the hypervisor took {:.1f} % of the time wanted", 100 * share));
}

std::optional<Finding> probe(const Situation& s) {
  auto times = s.watch.probe_ns;
  if (times.size() < kFewestProbes) return std::nullopt;
  std::sort(times.begin(), times.end());
  const auto low = static_cast<double>(times[times.size() / 4]);
  const auto high = static_cast<double>(times[times.size() * 3 / 4]);
  const double ratio = low > 0 ? high / low : 1;
  const std::string figures = fmt::format("{} to {} in the middle half of {} probes ({:+.0f} %)", format_duration(low),
                                          format_duration(high), times.size(), 100 * (ratio - 1));
  if (ratio <= kNotedProbeSpread) return well(FindingCase::probe, figures);
  return found(FindingCase::probe, ratio > kMostProbeSpread ? Severity::warning : Severity::note, figures);
}

std::optional<Finding> virtual_machine(const Situation& s) {
  if (!s.identity.virtual_machine) return well(FindingCase::virtual_machine, "none seen");
  return found(FindingCase::virtual_machine, Severity::note, *s.identity.virtual_machine);
}

}  // namespace assay::platform::findings
