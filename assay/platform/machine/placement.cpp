#include "assay/platform/machine/placement.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "assay/core/error.hpp"

namespace assay::platform {
namespace {

/// A physical core and where it lies: socket, node, last-level cache. -1: not known.
struct Core {
  std::array<std::int64_t, 3> where{-1, -1, -1};
  std::int64_t place = 0;
  std::vector<std::int64_t> cpus;  ///< its threads
};

using Cores = std::vector<Core>;

/// Last-level caches by the numbers of the CPUs that share them.
std::map<std::int64_t, std::int64_t> last_caches(const Topology& topology) {
  std::int64_t last = 0;
  for (const auto& cache : topology.caches) last = std::max(last, cache.level);
  std::map<std::int64_t, std::int64_t> found;
  std::int64_t place = 0;
  for (const auto& cache : topology.caches) {
    if (cache.level != last || cache.kind == CacheKind::instruction) continue;
    for (const auto cpu : cache.cpus) found[cpu] = place;
    ++place;
  }
  return found;
}

/// Cores in the order of the hardware: neighbours beside each other.
Cores cores_of(const Topology& topology) {
  const auto caches = last_caches(topology);
  std::map<std::int64_t, Core> found;
  for (const auto& cpu : topology.cpus) {
    Core& core = found[cpu.core];
    const auto cache = caches.find(cpu.number);
    core.where = {cpu.socket, cpu.node.value_or(-1), cache == caches.end() ? -1 : cache->second};
    core.place = cpu.core;
    core.cpus.push_back(cpu.number);
  }
  Cores cores;
  for (auto& [place, core] : found) cores.push_back(std::move(core));
  std::sort(cores.begin(), cores.end(),
            [](const Core& a, const Core& b) { return std::tie(a.where, a.place) < std::tie(b.where, b.place); });
  return cores;
}

std::vector<Cores> split_by(const Cores& cores, std::size_t level) {
  std::vector<Cores> groups;
  for (const auto& core : cores) {
    if (groups.empty() || groups.back().back().where[level] != core.where[level]) groups.emplace_back();
    groups.back().push_back(core);
  }
  return groups;
}

/// How many of `count` equal shares each group takes so that no share is in two groups; empty where that cannot be.
/// A group of n cores holds m shares of q or q + 1 cores exactly where m q <= n <= m (q + 1).
std::vector<std::int64_t> whole_shares(const std::vector<Cores>& groups, std::int64_t count, std::int64_t total) {
  const std::int64_t q = total / count;
  std::vector<std::int64_t> least;
  std::vector<std::int64_t> most;
  std::int64_t sum = 0;
  for (const auto& group : groups) {
    const auto n = static_cast<std::int64_t>(group.size());
    least.push_back((n + q) / (q + 1));
    most.push_back(n / q);
    if (least.back() > most.back()) return {};
    sum += least.back();
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::int64_t more = std::clamp<std::int64_t>(count - sum, 0, most[i] - least[i]);
    least[i] += more;
    sum += more;
  }
  return sum == count ? least : std::vector<std::int64_t>{};
}

/// Share `index` of `count` of neighbouring cores. Precondition: count <= cores.
Cores compact_share(const Cores& cores, std::size_t level, std::int64_t index, std::int64_t count) {
  const auto total = static_cast<std::int64_t>(cores.size());
  for (; count > 1 && level < Core{}.where.size(); ++level) {
    const auto groups = split_by(cores, level);
    const auto shares = whole_shares(groups, count, total);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (index < shares[i]) return compact_share(groups[i], level + 1, index, shares[i]);
      index -= shares[i];
    }
  }
  Cores mine;
  for (std::int64_t i = 0; i < total; ++i) {
    if (i * count / total == index) mine.push_back(cores[static_cast<std::size_t>(i)]);
  }
  return mine;
}

/// Like cards: each share gets its part of every socket, node and cache.
Cores dealt_share(const Cores& cores, std::int64_t index, std::int64_t count) {
  Cores mine;
  for (auto i = static_cast<std::size_t>(index); i < cores.size(); i += static_cast<std::size_t>(count))
    mine.push_back(cores[i]);
  return mine;
}

/// The same cores, taking turns between groups of `level`, and within each between those of the next level.
Cores in_turns(const Cores& cores, std::size_t level = 0) {
  if (level == Core{}.where.size()) return cores;
  auto groups = split_by(cores, level);
  for (auto& group : groups) group = in_turns(group, level + 1);
  Cores out;
  for (std::size_t turn = 0; out.size() < cores.size(); ++turn) {
    for (const auto& group : groups) {
      if (turn < group.size()) out.push_back(group[turn]);
    }
  }
  return out;
}

/// A thread of every core first, then the second ones, and so on.
std::vector<std::int64_t> threads_of(const Cores& cores) {
  std::vector<std::int64_t> cpus;
  bool found = true;
  for (std::size_t thread = 0; found; ++thread) {
    found = false;
    for (const auto& core : cores) {
      if (thread >= core.cpus.size()) continue;
      cpus.push_back(core.cpus[thread]);
      found = true;
    }
  }
  return cpus;
}

/// More instances than cores: each has one thread, and threads left over go to an instance on the same core.
std::vector<std::int64_t> thread_share(const Cores& cores, std::int64_t index, std::int64_t count) {
  const auto order = threads_of(cores);
  const std::int64_t mine = order[static_cast<std::size_t>(index) % order.size()];
  if (count >= static_cast<std::int64_t>(order.size())) return {mine};
  for (const auto& core : cores) {
    if (std::find(core.cpus.begin(), core.cpus.end(), mine) == core.cpus.end()) continue;
    const auto is_taken = [&](std::int64_t cpu) {
      return std::find(order.begin(), order.begin() + count, cpu) != order.begin() + count;
    };
    // Threads come into the order by their place in the core, so that those taken are the first ones.
    const auto taken = static_cast<std::size_t>(std::count_if(core.cpus.begin(), core.cpus.end(), is_taken));
    std::vector<std::int64_t> cpus;
    for (std::size_t i = 0; i < core.cpus.size(); ++i) {
      if (core.cpus[i % taken] == mine) cpus.push_back(core.cpus[i]);
    }
    return cpus;
  }
  return {mine};
}

}  // namespace

std::vector<std::int64_t> cpus_of_instance(const Topology& topology, std::optional<Affinity> affinity,
                                           std::int64_t index, std::int64_t count) {
  ASSAY_CHECK(count >= 1 && index >= 0 && index < count);
  if (!affinity || *affinity == Affinity::none || topology.cpus.empty()) return {};
  const Cores cores = cores_of(topology);
  const bool compact = *affinity == Affinity::compact;
  if (count > static_cast<std::int64_t>(cores.size()))
    return thread_share(compact ? cores : in_turns(cores), index, count);
  if (compact) return threads_of(compact_share(cores, 0, index, count));
  return threads_of(in_turns(dealt_share(cores, index, count)));
}

}  // namespace assay::platform
