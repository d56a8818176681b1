#include "assay/measure/agent/oversubscription.hpp"

#include <algorithm>
#include <set>

namespace assay::measure {
namespace {

constexpr double kFullShare = 0.75;

/// Threads at work, and what there was for them.
struct Demand {
  std::int64_t processes = 0;
  std::int64_t active = 0;
  double cpu_over_wall = 0;
  std::int64_t cpus = 0;
  std::optional<double> quota;

  double available() const { return quota ? std::min(static_cast<double>(cpus), *quota) : static_cast<double>(cpus); }

  /// Threads that mostly sleep are not in each other's way, however many there are.
  bool is_full() const { return cpu_over_wall > kFullShare * available(); }

  bool is_too_much() const {
    const auto threads = static_cast<double>(active);
    return cpus > 0 && threads > available() && threads > cpu_over_wall + 0.5 && is_full();
  }
};

/// Null where a process does not know.
std::optional<Demand> demand_of(const RankResult& rank) {
  const Disturbance& d = rank.disturbance;
  if (!d.active_threads || !d.cpus || !d.cpu_ns || !d.measured_ns || *d.measured_ns <= 0) return std::nullopt;
  return Demand{1, *d.active_threads, static_cast<double>(*d.cpu_ns) / static_cast<double>(*d.measured_ns), *d.cpus,
                d.quota_cpus};
}

std::optional<Demand> demand_of(const std::vector<RankResult>& ranks) {
  Demand sum;
  std::set<std::int64_t> pinned;
  std::int64_t unpinned = 0;
  for (const auto& rank : ranks) {
    const auto one = demand_of(rank);
    if (!one) return std::nullopt;
    ++sum.processes;
    sum.active += one->active;
    sum.cpu_over_wall += one->cpu_over_wall;
    if (one->quota) sum.quota = std::min(sum.quota.value_or(*one->quota), *one->quota);
    pinned.insert(rank.cpus.begin(), rank.cpus.end());
    if (rank.cpus.empty()) unpinned = std::max(unpinned, one->cpus);
  }
  // Who is not pinned may use all that are allowed, and those hold the others' too.
  sum.cpus = std::max(unpinned, static_cast<std::int64_t>(pinned.size()));
  return sum;
}

std::string cpus_text(const Demand& d) {
  std::string cpus = fmt::format("{} CPU{}", d.cpus, d.cpus == 1 ? "" : "s");
  if (!d.quota || *d.quota >= static_cast<double>(d.cpus)) return cpus;
  return fmt::format("a quota of {:.2g} of {}", *d.quota, cpus);
}

std::string message(const Demand& d) {
  const auto enough = std::max<std::int64_t>(1, static_cast<std::int64_t>(d.available()));
  const std::string whose = d.processes > 1 ? fmt::format(" of {} processes", d.processes) : "";
  const std::string advice = d.processes > 1 ? fmt::format("keep processes x intra_op within {}", enough)
                                             : fmt::format("ask for at most {} (intra_op, inter_op)", enough);
  return fmt::format("{} threads{} were busy on {}: CPU time over wall time was {:.2f}; {}", d.active, whose,
                     cpus_text(d), d.cpu_over_wall, advice);
}

}  // namespace

std::optional<std::string> oversubscription(const std::vector<RankResult>& ranks) {
  for (const auto& rank : ranks) {
    if (const auto demand = demand_of(rank); demand && demand->is_too_much()) return message(*demand);
  }
  if (ranks.size() < 2) return std::nullopt;
  const auto all = demand_of(ranks);
  return all && all->is_too_much() ? std::optional(message(*all)) : std::nullopt;
}

}  // namespace assay::measure
