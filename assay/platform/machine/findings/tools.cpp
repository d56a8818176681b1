#include <fmt/format.h>
#include <fmt/ranges.h>

#include "assay/platform/machine/findings/findings.hpp"

namespace assay::platform::findings {

std::optional<Finding> workers(const Situation& s) {
  if (!s.worker_problems.empty()) {
    return Finding{"workers", Severity::warning, fmt::format("{}", fmt::join(s.worker_problems, "; ")),
                   "a worker whose worker.json is broken cannot be used",
                   "mend the file, or remove the worker's folder"};
  }
  if (s.workers.empty()) {
    return Finding{"workers", Severity::warning, "none is installed", "nothing can be measured without one",
                   "build Assay with its workers, or name a folder of yours in ASSAY_WORKERS"};
  }
  if (!s.workers_to_install.empty()) {
    const auto names = fmt::format("{}", fmt::join(s.workers_to_install, " "));
    return Finding{"workers", Severity::note, fmt::format("not installed: {}", names),
                   "a framework can be measured once its environment is made", "assay worker install " + names};
  }
  return well("workers", fmt::format("{} at hand", s.workers.size()));
}

std::optional<Finding> allocators(const Situation& s) {
  if (s.missing_allocators.empty()) return well("allocators", "tcmalloc and jemalloc are here");
  return Finding{"allocators", Severity::note, fmt::format("no {}", fmt::join(s.missing_allocators, ", no ")),
                 "--allocator cannot use what is not installed",
                 "apt install libtcmalloc-minimal4 libjemalloc2, or what your system calls them"};
}

std::optional<Finding> gpus(const Situation& s) {
  if (s.identity.gpus.empty()) return std::nullopt;
  return Finding{"gpus", Severity::note, fmt::format("{} seen", s.identity.gpus.size()),
                 "what Assay reads of GPUs was tried against an imitation of NVIDIA's library, never on a GPU",
                 "hold names and memory against nvidia-smi before you rely on them"};
}

}  // namespace assay::platform::findings
