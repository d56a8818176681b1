#pragma once

#include <cstdint>
#include <optional>

namespace assay::platform {

/// Physical memory of this machine.
std::int64_t total_memory_bytes();

/// How often the kernel has ended a process because memory ran out, since boot; null where it does not count.
std::optional<std::int64_t> oom_kills();

}  // namespace assay::platform
