#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "assay/core/settings.hpp"

namespace assay::platform {

/// CPUs this process may use, ascending.
std::vector<std::int64_t> allowed_cpus();

/// CPUs of instance `index` of `count` under an affinity, from `cpus` in order. Compact gives neighbours, spread gives
/// every count-th. With more instances than CPUs they share, one CPU each. Empty: not pinned.
std::vector<std::int64_t> cpus_of_instance(const std::vector<std::int64_t>& cpus, std::optional<Affinity> affinity,
                                           std::int64_t index, std::int64_t count);

/// Pins the calling process; false where the kernel refuses.
[[nodiscard]] bool pin_to(const std::vector<std::int64_t>& cpus);

/// Sets the memory policy of the calling process and what it starts; false where the kernel refuses.
[[nodiscard]] bool bind_memory(MemoryBind bind);

}  // namespace assay::platform
