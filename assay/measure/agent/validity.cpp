#include "assay/measure/agent/validity.hpp"

#include <algorithm>
#include <map>

#include "assay/core/text/units.hpp"
#include "assay/measure/agent/oversubscription.hpp"

namespace assay::measure {
namespace {

// The kernel counts in ticks of 10 ms: a shorter window cannot tell 2 % from nothing.
constexpr std::int64_t kShortestWindowNs = 500'000'000;
constexpr double kMostSteal = 0.02;
constexpr double kMostStealOfGroup = 0.05;
constexpr double kMostThrottled = 0.01;
constexpr double kMostNeighbours = 0.10;
constexpr double kLeastWait = 0.01;
constexpr double kFull = 0.95;
constexpr double kMostProbeSpread = 1.25;

enum class Lasts { passing, standing };

void add(Validity& validity, const char* code, std::string message, Lasts lasts = Lasts::passing) {
  if (lasts == Lasts::passing) validity.trusted = false;
  for (const auto& reason : validity.reasons) {
    if (reason.code == code) return;  // one process saw it: enough
  }
  validity.reasons.push_back({code, std::move(message), lasts == Lasts::passing});
}

/// `part` of `whole` above `limit`?
bool above(const std::optional<std::int64_t>& part, double whole, double limit) {
  return part && static_cast<double>(*part) > limit * whole;
}

std::string share(const char* what, std::int64_t part, double whole) {
  return fmt::format("{}: {} ({:.1f} %)", what, format_duration(static_cast<double>(part)),
                     100.0 * static_cast<double>(part) / whole);
}

double cpus_of(const Disturbance& d) {
  return static_cast<double>(std::max<std::int64_t>(1, d.cpus.value_or(1)));
}

bool is_throttled(const Disturbance& d) {
  return d.window_ns && *d.window_ns >= kShortestWindowNs &&
         above(d.throttled_ns, static_cast<double>(*d.window_ns), kMostThrottled);
}

/// Did the hypervisor take more than this share of the CPU time?
bool is_stolen(const Disturbance& d, double limit) {
  return d.window_ns && *d.window_ns >= kShortestWindowNs &&
         above(d.steal_ns, static_cast<double>(*d.window_ns) * cpus_of(d), limit);
}

void judge_counters(const Disturbance& d, Validity& validity) {
  if (!d.window_ns || *d.window_ns < kShortestWindowNs) return;
  const double cpus = cpus_of(d);
  const auto window = static_cast<double>(*d.window_ns);
  if (is_stolen(d, kMostSteal)) {
    add(validity, "steal", share("the hypervisor took CPU time", *d.steal_ns, window * cpus));
  }
  if (is_throttled(d)) {
    // The kernel counts the stopped time of every CPU.
    const std::string quota = d.quota_cpus ? fmt::format(" of {:.2g} CPUs", *d.quota_cpus) : "";
    add(validity, kThrottled,
        share(fmt::format("a cgroup's CPU quota{} stopped the worker", quota).c_str(), *d.throttled_ns, window * cpus) +
            "; use fewer threads or raise the quota",
        Lasts::standing);
  }
  if (d.swap_bytes && *d.swap_bytes > 0) {
    add(validity, "swap", fmt::format("{} were swapped while measuring", format_bytes(*d.swap_bytes)));
  }
}

/// Whether two processes may have run on the same CPU; one that is not pinned may run on any.
bool share_cpus(const RankResult& a, const RankResult& b) {
  if (a.cpus.empty() || b.cpus.empty()) return true;
  return std::any_of(a.cpus.begin(), a.cpus.end(),
                     [&](auto cpu) { return std::find(b.cpus.begin(), b.cpus.end(), cpu) != b.cpus.end(); });
}

std::int64_t used_ns(const RankResult& rank) {
  return rank.disturbance.cpu_ns.value_or(0) + rank.disturbance.assay_cpu_ns.value_or(0);
}

/// CPU that others than this run and its partner used on the CPUs of one of its processes; null where it is not known.
std::optional<std::int64_t> others_ns(const RankResult& rank, const std::vector<RankResult>& ranks,
                                      const std::vector<RankResult>& partner) {
  const Disturbance& d = rank.disturbance;
  if (!d.window_ns || *d.window_ns < kShortestWindowNs || !d.other_cpu_ns) return std::nullopt;
  std::int64_t own = 0;
  for (const auto* group : {&ranks, &partner}) {
    for (const auto& one : *group) {
      if (&one != &rank && share_cpus(rank, one)) own += used_ns(one);
    }
  }
  return std::max<std::int64_t>(0, *d.other_cpu_ns - own);
}

/// Other processes only disturb where the worker's threads had to wait for them. Where its threads ended meanwhile, how
/// long they waited is not known: then the CPUs must have been full, with what the hypervisor took of them.
bool had_to_wait(const Disturbance& d, std::int64_t others) {
  const auto window = static_cast<double>(*d.window_ns);
  if (d.wait_ns) return above(d.wait_ns, window, kLeastWait);
  return static_cast<double>(d.cpu_ns.value_or(0) + others + d.steal_ns.value_or(0)) > kFull * window * cpus_of(d);
}

/// The process whose CPUs others used most of, where it is enough to disturb.
struct Disturbed {
  const RankResult* rank = nullptr;
  std::int64_t others = 0;
};

Disturbed find_disturbed(const std::vector<RankResult>& ranks, const std::vector<RankResult>& partner) {
  Disturbed worst;
  for (const auto& rank : ranks) {
    const auto others = others_ns(rank, ranks, partner);
    if (!others || *others <= worst.others) continue;
    const Disturbance& d = rank.disturbance;
    if (above(others, static_cast<double>(*d.window_ns) * cpus_of(d), kMostNeighbours) && had_to_wait(d, *others))
      worst = {&rank, *others};
  }
  return worst;
}

void judge_neighbours(const std::vector<RankResult>& ranks, const std::vector<RankResult>& partner,
                      Validity& validity) {
  const auto worst = find_disturbed(ranks, partner);
  if (worst.rank == nullptr) return;
  const Disturbance& d = worst.rank->disturbance;
  add(validity, kNeighbours,
      share("other processes used the same CPUs", worst.others, static_cast<double>(*d.window_ns) * cpus_of(d)));
}

void judge_probe(const RankResult& rank, Validity& validity) {
  std::vector<std::int64_t> times;
  for (const auto& slice : rank.slices) {
    if (slice.probe_ns) times.push_back(*slice.probe_ns);
  }
  if (rank.probe_after_ns) times.push_back(*rank.probe_after_ns);
  // A few probes are too few: a single interrupt would make a verdict.
  if (times.size() < 5) return;
  std::sort(times.begin(), times.end());
  const auto low = static_cast<double>(times[times.size() / 4]);
  const auto high = static_cast<double>(times[times.size() * 3 / 4]);
  if (low > 0 && high / low > kMostProbeSpread) {
    add(validity, "probe",
        fmt::format("the host's own speed changed while measuring: the probe took {} to {}", format_duration(low),
                    format_duration(high)));
  }
}

}  // namespace

bool is_passing(const Validity& validity) {
  return std::any_of(validity.reasons.begin(), validity.reasons.end(), [](const Reason& r) { return r.passing; });
}

bool is_starved(const Validity& validity, const std::vector<RankResult>& ranks) {
  const auto by_neighbours = [](const Reason& reason) { return reason.code == kNeighbours; };
  const auto by_hypervisor = [](const RankResult& rank) { return is_stolen(rank.disturbance, kMostStealOfGroup); };
  return std::any_of(validity.reasons.begin(), validity.reasons.end(), by_neighbours) ||
         std::any_of(ranks.begin(), ranks.end(), by_hypervisor);
}

std::vector<std::int64_t> disturbed_cpus(const std::vector<RankResult>& ranks, const std::vector<RankResult>& partner) {
  const auto worst = find_disturbed(ranks, partner);
  return worst.rank != nullptr ? worst.rank->cpus : std::vector<std::int64_t>{};
}

Validity judge(const std::vector<RankResult>& ranks, const std::vector<RankResult>& partner) {
  Validity validity;
  // CPU 0 of one host is not CPU 0 of another.
  std::map<std::string, std::vector<RankResult>> by_host;
  for (const auto& rank : ranks) {
    judge_counters(rank.disturbance, validity);
    by_host[rank.host.value_or("")].push_back(rank);
  }
  for (const auto& [host, group] : by_host) {
    for (const auto& rank : group) {
      // A quota stops the probe as well: its times then tell of the quota and not of the host. Ranks probe at the same
      // time: where they are more than the CPUs, they disturb each other.
      const bool crowded = rank.host && static_cast<double>(group.size()) > cpus_of(rank.disturbance);
      if (!crowded && !is_throttled(rank.disturbance)) judge_probe(rank, validity);
    }
    judge_neighbours(group, partner, validity);
    if (auto message = oversubscription(group)) add(validity, kOversubscribed, std::move(*message), Lasts::standing);
  }
  return validity;
}

}  // namespace assay::measure
