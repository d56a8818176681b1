#include "assay/platform/machine/topology.hpp"

#include <hwloc.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "assay/core/error.hpp"
#include "assay/platform/machine/topology_xml.hpp"

namespace assay::platform {
namespace {

constexpr int kMostCpus = 8192;

using HwlocTopology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

/// A description that is not loaded yet: nothing of input and output, every cache.
HwlocTopology new_topology() {
  // Plugins would open drivers of graphics cards, and a second XML parser that knows entities. A user's own path stays.
  setenv("HWLOC_PLUGINS_PATH", "/dev/null", 0);
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) fail(ErrorKind::failure, "hwloc could not begin to describe this machine");
  HwlocTopology topology(raw, hwloc_topology_destroy);
  hwloc_topology_set_icache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  return topology;
}

std::vector<std::int64_t> numbers_of(hwloc_const_bitmap_t set) {
  std::vector<std::int64_t> numbers;
  for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu)) numbers.push_back(cpu);
  return numbers;
}

/// Calls `visit` with each object of a type, in the order of the hardware.
template <typename Visit>
void for_each_object(hwloc_topology_t topology, hwloc_obj_type_t type, Visit visit) {
  for (hwloc_obj_t it = nullptr; (it = hwloc_get_next_obj_by_type(topology, type, it)) != nullptr;) visit(it);
}

/// Places of objects of a type, by the number of each CPU in them. Of several that hold a CPU the smallest counts.
std::map<std::int64_t, std::int64_t> places(hwloc_topology_t topology, hwloc_obj_type_t type) {
  std::map<std::int64_t, std::pair<int, std::int64_t>> found;
  std::int64_t place = 0;
  for_each_object(topology, type, [&](hwloc_obj_t object) {
    const int size = hwloc_bitmap_weight(object->cpuset);
    for (const auto cpu : numbers_of(object->cpuset)) {
      const auto [it, is_new] = found.try_emplace(cpu, size, place);
      if (!is_new && size < it->second.first) it->second = {size, place};
    }
    ++place;
  });
  std::map<std::int64_t, std::int64_t> out;
  for (const auto& [cpu, size_and_place] : found) out[cpu] = size_and_place.second;
  return out;
}

void read_caches(hwloc_topology_t raw, Topology& out) {
  constexpr std::array kTypes{HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L1ICACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L2ICACHE,
                              HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L3ICACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE};
  for (const auto type : kTypes) {
    for_each_object(raw, type, [&](hwloc_obj_t object) {
      const auto& cache = object->attr->cache;
      const auto kind = cache.type == HWLOC_OBJ_CACHE_DATA          ? CacheKind::data
                        : cache.type == HWLOC_OBJ_CACHE_INSTRUCTION ? CacheKind::instruction
                                                                    : CacheKind::unified;
      out.caches.push_back({cache.depth, kind, static_cast<std::int64_t>(cache.size), numbers_of(object->cpuset)});
    });
  }
}

/// A loaded description as our own struct. `what` names it in messages.
Topology converted(hwloc_topology_t raw, const std::string& what) {
  Topology out;
  const auto sockets = places(raw, HWLOC_OBJ_PACKAGE);
  const auto cores = places(raw, HWLOC_OBJ_CORE);
  const auto nodes = places(raw, HWLOC_OBJ_NUMANODE);
  out.sockets = std::max(1, hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_PACKAGE));
  out.cores = hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_CORE);
  // Where the kernel tells nothing of cores, each CPU counts as one, and all as one socket.
  const bool cores_known = out.cores > 0;
  for_each_object(raw, HWLOC_OBJ_PU, [&](hwloc_obj_t object) {
    Cpu cpu;
    cpu.number = object->os_index;
    if (cpu.number >= kMostCpus) {
      fail(ErrorKind::bad_input, "{} has a CPU with the number {}; the most is {}", what, cpu.number, kMostCpus - 1);
    }
    if (const auto it = sockets.find(cpu.number); it != sockets.end()) cpu.socket = it->second;
    if (const auto it = nodes.find(cpu.number); it != nodes.end()) cpu.node = it->second;
    if (const auto it = cores.find(cpu.number); it != cores.end()) cpu.core = it->second;
    if (!cores_known) cpu.core = out.cores++;
    out.cpus.push_back(cpu);
  });
  for_each_object(raw, HWLOC_OBJ_NUMANODE, [&](hwloc_obj_t object) {
    out.nodes.push_back(
        {object->os_index, static_cast<std::int64_t>(object->attr->numanode.local_memory), numbers_of(object->cpuset)});
  });
  read_caches(raw, out);
  if (out.cpus.empty()) fail(ErrorKind::bad_input, "{} describes a machine without a CPU", what);
  return out;
}

/// CPUs that a synthetic description asks for: the product of its counts, those in brackets left out. hwloc would try
/// to make any number of them.
double cpus_asked_for(const std::string& description) {
  double product = 1;
  int depth = 0;
  for (std::size_t i = 0; i < description.size(); ++i) {
    if (description[i] == '(' || description[i] == '[') ++depth;
    if (description[i] == ')' || description[i] == ']') --depth;
    if (description[i] == ':' && depth == 0)
      product *= std::max(1.0, std::strtod(description.c_str() + i + 1, nullptr));
  }
  return product;
}

template <typename T, typename Keep>
std::vector<T> kept(const std::vector<T>& all, Keep keep) {
  std::vector<T> out;
  std::copy_if(all.begin(), all.end(), std::back_inserter(out), keep);
  return out;
}

/// New places without gaps for those that are still used, in the old order.
class Renumbered {
 public:
  std::int64_t operator()(std::int64_t old) {
    return places_.try_emplace(old, static_cast<std::int64_t>(places_.size())).first->second;
  }
  std::int64_t size() const { return static_cast<std::int64_t>(places_.size()); }

 private:
  std::map<std::int64_t, std::int64_t> places_;
};

}  // namespace

Topology read_topology() {
  const auto topology = new_topology();
  hwloc_topology_set_flags(topology.get(), HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (hwloc_topology_load(topology.get()) != 0) {
    fail(ErrorKind::failure, "the CPUs of this machine cannot be read. Is /sys mounted?");
  }
  return converted(topology.get(), "this machine");
}

Topology topology_from_synthetic(const std::string& description) {
  if (const double asked = cpus_asked_for(description); asked > kMostCpus) {
    fail(ErrorKind::bad_input, "{} has {:.0f} CPUs; the most is {}", shown(description), asked, kMostCpus);
  }
  const auto topology = new_topology();
  if (hwloc_topology_set_synthetic(topology.get(), description.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    fail(ErrorKind::bad_input, "{} describes no machine. For example: 'pack:2 [numa] core:8 pu:2'", shown(description));
  }
  return converted(topology.get(), shown(description));
}

Topology topology_from_trusted_xml(const std::string& text, const std::string& name) {
  const auto topology = new_topology();
  hwloc_topology_set_flags(topology.get(), HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  // The length counts the zero behind the text.
  if (hwloc_topology_set_xmlbuffer(topology.get(), text.c_str(), static_cast<int>(text.size() + 1)) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    fail(ErrorKind::bad_input, "{}: is not a machine as `lstopo FILE.xml` writes it", name);
  }
  return converted(topology.get(), name);
}

Topology restricted_to(const Topology& whole, const std::vector<std::int64_t>& cpus) {
  auto wanted = cpus;
  std::sort(wanted.begin(), wanted.end());
  const auto is_wanted = [&](std::int64_t cpu) { return std::binary_search(wanted.begin(), wanted.end(), cpu); };
  Topology out;
  Renumbered sockets;
  Renumbered cores;
  std::map<std::int64_t, std::int64_t> node_places;
  for (std::size_t i = 0; i < whole.nodes.size(); ++i) {
    NumaNode node = whole.nodes[i];
    const bool had_cpus = !node.cpus.empty();
    node.cpus = kept(node.cpus, is_wanted);
    if (had_cpus && node.cpus.empty()) continue;
    node_places[static_cast<std::int64_t>(i)] = static_cast<std::int64_t>(out.nodes.size());
    out.nodes.push_back(std::move(node));
  }
  for (Cpu cpu : whole.cpus) {
    if (!is_wanted(cpu.number)) continue;
    cpu.socket = sockets(cpu.socket);
    cpu.core = cores(cpu.core);
    if (cpu.node) cpu.node = node_places.at(*cpu.node);
    out.cpus.push_back(cpu);
  }
  out.sockets = sockets.size();
  out.cores = cores.size();
  for (Cache cache : whole.caches) {
    cache.cpus = kept(cache.cpus, is_wanted);
    if (!cache.cpus.empty()) out.caches.push_back(std::move(cache));
  }
  return out;
}

}  // namespace assay::platform
