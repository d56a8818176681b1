#include "assay/platform/memory.hpp"

#include <unistd.h>

#include "assay/platform/proc.hpp"

namespace assay::platform {

std::int64_t total_memory_bytes() {
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

std::optional<std::int64_t> oom_kills() {
  const auto text = read_small_file("/proc/vmstat");
  return text ? integer_after(*text, "oom_kill ") : std::nullopt;
}

}  // namespace assay::platform
