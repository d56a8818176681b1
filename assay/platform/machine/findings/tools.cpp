#include <fmt/format.h>
#include <fmt/ranges.h>

#include "assay/platform/machine/findings/findings.hpp"

namespace assay::platform::findings {

std::optional<Finding> workers(const Situation& s) {
  if (!s.worker_problems.empty()) {
    return found(FindingCase::broken_worker, Severity::warning, fmt::format("{}", fmt::join(s.worker_problems, "; ")));
  }
  if (s.workers.empty()) {
    return found(FindingCase::no_worker, Severity::warning, "none is installed");
  }
  if (!s.workers_to_install.empty()) {
    const auto names = fmt::format("{}", fmt::join(s.workers_to_install, " "));
    return found(FindingCase::no_environment, Severity::note, "not installed: " + names, {{"WORKERS", names}});
  }
  return well(FindingCase::no_environment, fmt::format("{} at hand", s.workers.size()));
}

std::optional<Finding> allocators(const Situation& s) {
  if (s.missing_allocators.empty()) return well(FindingCase::allocators, "tcmalloc and jemalloc are here");
  return found(FindingCase::allocators, Severity::note, fmt::format("no {}", fmt::join(s.missing_allocators, ", no ")));
}

std::optional<Finding> gpus(const Situation& s) {
  if (s.identity.gpus.empty()) return std::nullopt;
  return found(FindingCase::gpus, Severity::note, fmt::format("{} seen", s.identity.gpus.size()));
}

}  // namespace assay::platform::findings
