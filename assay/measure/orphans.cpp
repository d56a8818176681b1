#include "assay/measure/orphans.hpp"

#include <algorithm>
#include <array>
#include <csignal>

#include "assay/core/error.hpp"
#include "assay/measure/environment.hpp"

namespace assay::measure {
namespace {

/// Whoever looks after a run: an agent under any name of the program, or what starts ranks on another host for it.
bool looks_after_runs(const std::string& name) {
  static constexpr std::array<const char*, 5> kLaunchers{"mpirun", "orted", "prted", "srun", "slurmstepd"};
  if (std::find(kLaunchers.begin(), kLaunchers.end(), name) != kLaunchers.end()) return true;
  return name.starts_with("assay") && !name.starts_with("assay-rank") && !name.starts_with("assay-worker");
}

}  // namespace

std::vector<platform::MarkedProcess> end_orphans(const std::string& mark) {
  std::vector<platform::MarkedProcess> ended;
  for (const auto& one : platform::processes_with_variable(kRunVariable, mark)) {
    const auto above = platform::names_above(one.pid);
    if (above.empty() || std::any_of(above.begin(), above.end(), looks_after_runs)) continue;
    if (kill(one.pid, SIGKILL) == 0) ended.push_back(one);
  }
  return ended;
}

std::string orphan_message(const platform::MarkedProcess& orphan) {
  return fmt::format("ended process {} ({}), which an agent that is gone had left of run {}", orphan.pid, orphan.name,
                     orphan.value.substr(orphan.value.rfind('-') + 1));
}

}  // namespace assay::measure
