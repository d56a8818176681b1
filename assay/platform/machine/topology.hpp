#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay::platform {

enum class CacheKind { data, instruction, unified };

/// One logical CPU, and where it lies. Sockets, nodes and cores are places in the Topology, counted from 0.
struct Cpu {
  std::int64_t number = 0;  ///< the kernel's
  std::int64_t socket = 0;
  std::optional<std::int64_t> node;  ///< the memory it is nearest to; null where no node names it
  std::int64_t core = 0;
};

struct NumaNode {
  std::int64_t number = 0;  ///< the kernel's
  std::int64_t memory_bytes = 0;
  std::vector<std::int64_t> cpus;  ///< numbers of its CPUs, ascending; empty for memory of its own
};

struct Cache {
  std::int64_t level = 1;
  CacheKind kind = CacheKind::unified;
  std::int64_t size_bytes = 0;
  std::vector<std::int64_t> cpus;  ///< numbers of the CPUs that share it, ascending
};

/// What a machine is built of. CPUs come in the order of the hardware: those of a core together, then those of a cache,
/// a node and a socket. Numbers of the kernel follow no such order.
struct Topology {
  std::int64_t sockets = 0;
  std::int64_t cores = 0;  ///< physical
  std::vector<Cpu> cpus;   ///< logical
  std::vector<NumaNode> nodes;
  std::vector<Cache> caches;
};

/// This machine, whole: CPUs that this process may not use are there too.
Topology read_topology();

/// A machine described in hwloc's words: "pack:2 [numa(memory=64GB)] core:8 pu:2". Throws Error{bad_input}
/// for anything else and for more than 8192 CPUs.
Topology topology_from_synthetic(const std::string& description);

/// A machine that `lstopo machine.xml` wrote. Throws Error{bad_input} that names the file where it is no such thing or
/// larger than 64 MiB. Entities and declarations of types are refused. hwloc reads it in a process of its own, because
/// a malformed file can crash it.
Topology topology_from_xml(const std::filesystem::path& file);

/// The same from the text of such a file; `name` stands for it in messages.
Topology topology_from_xml_text(const std::string& text, const std::string& name);

/// What is left of a machine for a process that may use only these CPUs. Sockets, nodes, caches and cores without a CPU
/// are gone, but memory without CPUs of its own stays.
Topology restricted_to(const Topology& whole, const std::vector<std::int64_t>& cpus);

/// A machine as text that says how many of what is in what, whatever the numbers:
///   "2 socket[node[L3 32768K[8 L2 1024K[L1 32K[core[2 thread]]]]]]"
/// Two machines that a worker cannot tell apart have the same shape. Sizes of memory are no part of it: the kernel
/// reports other ones from boot to boot.
std::string shape(const Topology& topology);

template <typename V>
void describe(V& v, Cpu& c) {
  required(v, "number", c.number);
  required(v, "socket", c.socket);
  v("node", c.node);
  required(v, "core", c.core);
}

template <typename V>
void describe(V& v, NumaNode& n) {
  required(v, "number", n.number);
  required(v, "memory_bytes", n.memory_bytes);
  required(v, "cpus", n.cpus);
}

template <typename V>
void describe(V& v, Cache& c) {
  required(v, "level", c.level);
  required(v, "kind", c.kind);
  required(v, "size_bytes", c.size_bytes);
  required(v, "cpus", c.cpus);
}

template <typename V>
void describe(V& v, Topology& t) {
  required(v, "sockets", t.sockets);
  required(v, "cores", t.cores);
  required(v, "cpus", t.cpus);
  required(v, "nodes", t.nodes);
  required(v, "caches", t.caches);
}

}  // namespace assay::platform

namespace assay {

template <>
struct EnumNames<platform::CacheKind> {
  static constexpr std::array<const char*, 3> names{"data", "instruction", "unified"};
};

}  // namespace assay
