#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"
#include "assay/platform/gpus.hpp"
#include "assay/platform/machine/surroundings.hpp"
#include "assay/platform/machine/topology.hpp"

namespace assay::platform {

/// A kind of CPU. Fields are as the kernel writes them; null where it does not.
struct CpuModel {
  std::optional<std::string> name;
  std::optional<std::string> vendor;
  std::optional<std::string> family;
  std::optional<std::string> model;
  std::optional<std::string> stepping;
  std::vector<std::string> flags;  ///< instructions that decide how fast arithmetic is; sorted
  std::int64_t threads = 0;        ///< logical CPUs of this kind that may be used
};

/// What makes a machine the same one from boot to boot, within the CPUs and the quota that this process has. Kernel,
/// load, frequency, names and packages are no part of it. It is hashed: a field added later must be optional and null
/// by default.
struct Identity {
  std::string architecture;
  std::vector<CpuModel> cpus;  ///< one for each kind; most machines have one
  std::int64_t sockets = 0;
  std::int64_t nodes = 0;
  std::int64_t cores = 0;
  std::int64_t threads = 0;  ///< logical CPUs that may be used
  /// How many of what is in what, whatever the numbers: 2 socket[node[L3 32768K[8 core[2 thread]]]].
  std::string shape;
  std::int64_t memory_bytes = 0;    ///< rounded up to an eighth of the power of two below
  std::optional<double> cpu_quota;  ///< in CPUs; null where there is none or it allows every CPU
  std::vector<Gpu> gpus;
  std::optional<std::string> virtual_machine;
  std::optional<std::string> container;
};

/// What a person wants to know besides, and what may change without making it another machine.
struct About {
  std::optional<std::string> os;
  std::optional<std::string> board;
  std::optional<std::string> bios;
  std::optional<std::string> microcode;
  std::optional<std::string> gpu_driver;
  std::string cpu_list;  ///< numbers of the CPUs that may be used: 0-3,8
  std::int64_t machine_cpus = 0;
  std::int64_t memory_bytes = 0;  ///< as the kernel reports it now
};

/// A machine as measurements see it.
struct Machine {
  std::string id;
  Identity identity;
  About about;
  Topology topology;  ///< within the CPUs allowed; not part of the description
};

/// What identity_of looks at, so that recorded machines can be tested.
struct MachineFacts {
  std::string architecture;
  std::string cpuinfo;  ///< text of /proc/cpuinfo
  Topology topology;    ///< within the CPUs allowed
  std::int64_t memory_bytes = 0;
  std::optional<double> cpu_quota;
  std::vector<Gpu> gpus;
  Surroundings surroundings;
};

Identity identity_of(const MachineFacts& facts);

/// 128 bits of SHA-256 over the canonical JSON of an identity.
std::string id_of(const Identity& identity);

/// The size under which memory was sold: rounded up to an eighth of the power of two below. The kernel keeps some 2 %
/// for itself, and not the same from boot to boot; sizes on sale are at most 4 significant bits long.
std::int64_t nominal_memory(std::int64_t bytes);

/// This machine, for this process.
Machine this_machine();

/// {"identity": …, "about": …}: what a store keeps of a machine.
json description_of(const Machine& machine);

template <typename V>
void describe(V& v, CpuModel& c) {
  v("name", c.name);
  v("vendor", c.vendor);
  v("family", c.family);
  v("model", c.model);
  v("stepping", c.stepping);
  v("flags", c.flags);
  v("threads", c.threads);
}

template <typename V>
void describe(V& v, Identity& i) {
  v("architecture", i.architecture);
  v("cpus", i.cpus);
  v("sockets", i.sockets);
  v("nodes", i.nodes);
  v("cores", i.cores);
  v("threads", i.threads);
  v("shape", i.shape);
  v("memory_bytes", i.memory_bytes);
  v("cpu_quota", i.cpu_quota);
  v("gpus", i.gpus);
  v("virtual_machine", i.virtual_machine);
  v("container", i.container);
}

template <typename V>
void describe(V& v, About& a) {
  v("os", a.os);
  v("board", a.board);
  v("bios", a.bios);
  v("microcode", a.microcode);
  v("gpu_driver", a.gpu_driver);
  v("cpu_list", a.cpu_list);
  v("machine_cpus", a.machine_cpus);
  v("memory_bytes", a.memory_bytes);
}

}  // namespace assay::platform
