#pragma once

#include <cstdint>
#include <vector>

#include "assay/core/settings.hpp"

namespace assay::platform {

/// CPUs this process may use, ascending.
std::vector<std::int64_t> allowed_cpus();

/// Pins the calling process; false where the kernel refuses.
[[nodiscard]] bool pin_to(const std::vector<std::int64_t>& cpus);

/// Sets the memory policy of the calling process and what it starts; false where the kernel refuses.
[[nodiscard]] bool bind_memory(MemoryBind bind);

}  // namespace assay::platform
