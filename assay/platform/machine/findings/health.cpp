#include "assay/platform/machine/findings/health.hpp"

#include <algorithm>

#include "assay/platform/machine/findings/findings.hpp"

namespace assay::platform {

std::vector<Finding> examine(const Situation& situation) {
  using namespace findings;
  // What spoils most comes first; within one severity the order stays.
  static constexpr std::array kAll{workers,         host_lock,  quota,      neighbours, steal, probe,       governor,
                                   cpuset,          smt,        memory,     swap,       disk,  clocksource, turbo,
                                   virtual_machine, huge_pages, allocators, gpus};
  std::vector<Finding> found;
  for (const auto look : kAll) {
    if (auto finding = look(situation)) found.push_back(std::move(*finding));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return found;
}

FindingReference finding_reference() {
  return {.findings = finding_texts(), .counters = counter_texts()};
}

}  // namespace assay::platform
