#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "assay/core/settings.hpp"
#include "assay/platform/machine/topology.hpp"

namespace assay::platform {

/// CPUs of instance `index` of `count` under an affinity. Empty: not pinned.
///
/// All CPUs are dealt out, whole cores to each instance, and numbers of cores differ by at most one.
/// - compact: an instance has neighbours. It is in one socket, node and last-level cache wherever equal shares allow.
/// - spread: an instance has its share of every socket, node and cache.
/// Each list begins with one thread of every core, the threads beside them come last; under spread it takes turns
/// between sockets and nodes. With more instances than cores, threads of a core are shared out; with more than CPUs,
/// instances share CPUs, one each.
std::vector<std::int64_t> cpus_of_instance(const Topology& topology, std::optional<Affinity> affinity,
                                           std::int64_t index, std::int64_t count);

}  // namespace assay::platform
