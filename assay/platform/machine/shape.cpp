#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "assay/platform/machine/topology.hpp"

namespace assay::platform {
namespace {

/// Something that holds CPUs: a socket, a node, a cache, a core, a thread. Of parts with the same CPUs the one of the
/// lower rank is the outer one.
struct Part {
  std::vector<std::int64_t> cpus;
  int rank = 0;
  std::string label;
};

using Groups = std::map<std::int64_t, std::vector<std::int64_t>>;

void add_groups(const Groups& groups, int rank, const std::string& label, std::vector<Part>& parts) {
  for (const auto& [place, cpus] : groups) parts.push_back({cpus, rank, label});
}

std::vector<Part> parts_of(const Topology& topology) {
  std::vector<Part> parts;
  Groups sockets;
  Groups cores;
  for (const auto& cpu : topology.cpus) {
    sockets[cpu.socket].push_back(cpu.number);
    cores[cpu.core].push_back(cpu.number);
    parts.push_back({{cpu.number}, 100, "thread"});
  }
  add_groups(sockets, 0, "socket", parts);
  add_groups(cores, 99, "core", parts);
  for (const auto& node : topology.nodes) {
    if (!node.cpus.empty()) parts.push_back({node.cpus, 1, "node"});
  }
  for (const auto& cache : topology.caches) {
    if (cache.kind == CacheKind::instruction) continue;  // says nothing that the level above it does not
    parts.push_back(
        {cache.cpus, 50 - static_cast<int>(cache.level), fmt::format("L{} {}K", cache.level, cache.size_bytes / 1024)});
  }
  for (auto& part : parts) std::sort(part.cpus.begin(), part.cpus.end());
  // The larger first; the hardware is nested, so that each part follows the one that holds it.
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return a.cpus.size() != b.cpus.size() ? a.cpus.size() > b.cpus.size() : a.rank < b.rank;
  });
  return parts;
}

/// "2 a, b" for the texts b, a, a: sorted, so that the order of the parts does not count.
std::string counted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  std::string out;
  for (std::size_t i = 0; i < texts.size();) {
    const auto end = static_cast<std::size_t>(
        std::upper_bound(texts.begin() + static_cast<std::ptrdiff_t>(i), texts.end(), texts[i]) - texts.begin());
    if (!out.empty()) out += ", ";
    out += end - i > 1 ? fmt::format("{} {}", end - i, texts[i]) : texts[i];
    i = end;
  }
  return out;
}

}  // namespace

std::string shape(const Topology& topology) {
  const auto parts = parts_of(topology);
  // Each part hangs below the last one before it that holds its first CPU.
  std::map<std::int64_t, std::size_t> innermost;
  std::vector<std::vector<std::size_t>> inner(parts.size());
  std::vector<std::size_t> outermost;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto holder = innermost.find(parts[i].cpus.front());
    (holder == innermost.end() ? outermost : inner[holder->second]).push_back(i);
    for (const auto cpu : parts[i].cpus) innermost[cpu] = i;
  }
  // Inner parts have higher places, so that from the end each finds the texts of what it holds.
  std::vector<std::string> texts(parts.size());
  const auto joined = [&](const std::vector<std::size_t>& places) {
    std::vector<std::string> found;
    for (const auto place : places) found.push_back(texts[place]);
    return counted(std::move(found));
  };
  for (std::size_t i = parts.size(); i-- > 0;) {
    texts[i] = parts[i].label;
    if (!inner[i].empty()) texts[i] += "[" + joined(inner[i]) + "]";
  }
  std::string out = joined(outermost);
  const auto memory_only =
      std::count_if(topology.nodes.begin(), topology.nodes.end(), [](const auto& node) { return node.cpus.empty(); });
  if (memory_only > 0) out += fmt::format(", {} node without CPUs", memory_only);
  return out;
}

}  // namespace assay::platform
