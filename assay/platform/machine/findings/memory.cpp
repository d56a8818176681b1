#include <fmt/format.h>

#include <algorithm>

#include "assay/core/text/units.hpp"
#include "assay/platform/machine/findings/findings.hpp"

namespace assay::platform::findings {
namespace {

constexpr std::int64_t kGiB = 1LL << 30;

}  // namespace

std::optional<Finding> memory(const Situation& s) {
  if (!s.state.memory_available_bytes) return std::nullopt;
  std::int64_t total = s.about.memory_bytes;
  std::int64_t free = *s.state.memory_available_bytes;
  std::string limit;
  if (s.memory_limit_bytes && *s.memory_limit_bytes < total) {
    total = *s.memory_limit_bytes;
    free = std::min(free, total);
    limit = fmt::format(", within a limit of {}", format_bytes(total));
  }
  const std::string seen =
      fmt::format("{} of {} free{}", format_bytes(free), format_bytes(s.about.memory_bytes), limit);
  if (free >= 2 * kGiB && free >= total / 10) return well("memory", seen);
  return Finding{"memory", Severity::warning, seen, "a worker that finds no memory is ended by the kernel, or swaps",
                 "end what is not needed; --memory-limit ends a worker before the kernel ends something else"};
}

std::optional<Finding> swap(const Situation& s) {
  if (!s.state.swap_total_bytes || !s.state.swap_used_bytes) return std::nullopt;
  const std::int64_t total = *s.state.swap_total_bytes;
  const std::int64_t used = *s.state.swap_used_bytes;
  if (total == 0) return well("swap", "none");
  const std::string seen = fmt::format("{} of {} in use", format_bytes(used), format_bytes(total));
  const char* why = "a worker that is swapped measures the disk; such runs are called disturbed";
  const char* mend =
      "swapoff -a, or --memory-limit below the memory that is free, so that a worker fails rather than swaps";
  if (used > 0) return Finding{"swap", Severity::warning, seen, why, mend};
  if (s.memory_limit_bytes) return well("swap", seen);
  return Finding{"swap", Severity::note, seen + ", and no limit on memory", why, mend};
}

std::optional<Finding> huge_pages(const Situation& s) {
  if (!s.state.huge_pages) return std::nullopt;
  const std::string& setting = *s.state.huge_pages;
  if (setting == "madvise") return well("huge_pages", setting);
  return Finding{"huge_pages", Severity::note, setting,
                 setting == "always"
                     ? "whether a process gets huge pages depends on how scattered memory is at that moment: "
                       "fresh processes of one trial differ"
                     : "frameworks that ask for huge pages do not get them",
                 "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, and the same on every machine compared"};
}

std::optional<Finding> disk(const Situation& s) {
  if (!s.disk_free_bytes) return std::nullopt;
  const std::string seen = fmt::format("{} free for a store in {}", format_bytes(*s.disk_free_bytes), s.store_folder);
  if (*s.disk_free_bytes >= kGiB) return well("disk", seen);
  return Finding{"disk", Severity::warning, seen, "a campaign stops when a record cannot be written",
                 "make room, or name another place with --store"};
}

}  // namespace assay::platform::findings
