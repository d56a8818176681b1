#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/core/text/json.hpp"
#include "assay/platform/machine/topology.hpp"

namespace assay::tune {

/// What a machine offers a process, as guides count it: within the CPUs that it may use.
struct Resources {
  std::int64_t sockets = 1;
  std::int64_t nodes = 1;       ///< of memory that have CPUs
  std::int64_t cores = 1;       ///< physical
  std::int64_t threads = 1;     ///< logical CPUs
  std::optional<double> quota;  ///< CPU time per time that a control group leaves; null where it allows every CPU

  /// Threads that can run at once: all CPUs, or what the quota leaves, at least 1.
  std::int64_t usable_threads() const;
  /// Of them, at most one for each core.
  std::int64_t usable_cores() const;
};

template <typename V>
void describe(V& v, Resources& r) {
  required(v, "sockets", r.sockets);
  required(v, "nodes", r.nodes);
  required(v, "cores", r.cores);
  required(v, "threads", r.threads);
  v("quota", r.quota);
}

Resources resources_of(const platform::Topology& topology, std::optional<double> quota);

/// "2 sockets, 2 NUMA nodes, 48 cores, 96 threads, quota 4 CPUs".
std::string title(const Resources& resources);

}  // namespace assay::tune
