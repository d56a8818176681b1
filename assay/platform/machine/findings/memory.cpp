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
  if (free >= 2 * kGiB && free >= total / 10) return well(FindingCase::memory, seen);
  return found(FindingCase::memory, Severity::warning, seen);
}

std::optional<Finding> swap(const Situation& s) {
  if (!s.state.swap_total_bytes || !s.state.swap_used_bytes) return std::nullopt;
  const std::int64_t total = *s.state.swap_total_bytes;
  const std::int64_t used = *s.state.swap_used_bytes;
  if (total == 0) return well(FindingCase::swap, "none");
  const std::string seen = fmt::format("{} of {} in use", format_bytes(used), format_bytes(total));
  if (used > 0) return found(FindingCase::swap, Severity::warning, seen);
  if (s.memory_limit_bytes) return well(FindingCase::swap, seen);
  return found(FindingCase::swap, Severity::note, seen + ", and no limit on memory");
}

std::optional<Finding> huge_pages(const Situation& s) {
  if (!s.state.huge_pages) return std::nullopt;
  const std::string& setting = *s.state.huge_pages;
  if (setting == "madvise") return well(FindingCase::no_huge_pages, setting);
  return found(setting == "always" ? FindingCase::huge_pages_by_luck : FindingCase::no_huge_pages, Severity::note,
               setting);
}

std::optional<Finding> disk(const Situation& s) {
  if (!s.disk_free_bytes) return std::nullopt;
  const std::string seen = fmt::format("{} free for a store in {}", format_bytes(*s.disk_free_bytes), s.store_folder);
  if (*s.disk_free_bytes >= kGiB) return well(FindingCase::disk, seen);
  return found(FindingCase::disk, Severity::warning, seen);
}

}  // namespace assay::platform::findings
