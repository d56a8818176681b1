#include "assay/measure/agent/memory.hpp"

#include <algorithm>

#include "assay/core/text/units.hpp"
#include "assay/platform/cgroup.hpp"
#include "assay/platform/cpus.hpp"
#include "assay/platform/machine/state.hpp"
#include "assay/platform/memory.hpp"

namespace assay::measure {
namespace {

constexpr std::int64_t kWeightBytes = 4;
constexpr std::int64_t kTrainingCopies = 3;  // weights, gradients, momenta
constexpr std::size_t kMostNamed = 8;

std::int64_t weight_bytes(const Part& part) {
  if (!part.graph.is_object()) return 0;
  const auto parameters = part.graph.value("parameters", std::int64_t{0});
  return parameters * kWeightBytes * (part.trial.workload.mode == Mode::train ? kTrainingCopies : 1);
}

}  // namespace

std::vector<MemoryNeed> memory_needs(const Order& order, const store::Lease& lease, const KnownMemory& known) {
  std::vector<MemoryNeed> needs;
  for (std::size_t side = 0; side < lease.runs.size(); ++side) {
    const auto& run = lease.runs[side];
    const auto seen = known.find(run.trial_id);
    const auto processes = std::count_if(order.processes.begin(), order.processes.end(), [&](const auto& process) {
      return process.part == static_cast<std::int64_t>(side);
    });
    needs.push_back({title(run.trial), seen != known.end() ? seen->second : processes * weight_bytes(order.parts[side]),
                     seen != known.end()});
  }
  return needs;
}

void check_fits(const std::vector<MemoryNeed>& needs, std::int64_t available) {
  std::int64_t sum = 0;
  for (const auto& need : needs) sum += need.bytes;
  if (sum <= available) return;
  std::vector<MemoryNeed> largest = needs;
  std::stable_sort(largest.begin(), largest.end(), [](const auto& x, const auto& y) { return x.bytes > y.bytes; });
  std::string list;
  for (std::size_t i = 0; i < std::min(largest.size(), kMostNamed); ++i) {
    list += fmt::format("{}{} {} ({})", i == 0 ? "" : ", ", largest[i].side, format_bytes(largest[i].bytes),
                        largest[i].measured ? "measured before" : "for its weights alone");
  }
  if (largest.size() > kMostNamed) list += fmt::format(", and {} more", largest.size() - kMostNamed);
  fail(
      ErrorKind::failure,
      "lockstep: {} trials alive at once need {}, and {} are available: {}. Put fewer trials in a group, end what else "
      "uses memory, or measure without lock-step.",
      needs.size(), format_bytes(sum), format_bytes(available), list);
}

std::int64_t available_memory_bytes() {
  const auto state = platform::read_state(platform::allowed_cpus());
  const auto free = state.memory_available_bytes.value_or(platform::total_memory_bytes());
  return std::min(free, platform::read_cgroup_limits().memory_bytes.value_or(free));
}

}  // namespace assay::measure
