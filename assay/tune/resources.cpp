#include "assay/tune/resources.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/error.hpp"

namespace assay::tune {

std::int64_t Resources::usable_threads() const {
  if (!quota) return threads;
  // Half a CPU more than a whole number is worth a thread: it runs half of the time.
  return std::clamp<std::int64_t>(std::llround(*quota), 1, threads);
}

std::int64_t Resources::usable_cores() const {
  return std::min(cores, usable_threads());
}

Resources resources_of(const platform::Topology& topology, std::optional<double> quota) {
  Resources resources;
  resources.sockets = std::max<std::int64_t>(topology.sockets, 1);
  resources.cores = std::max<std::int64_t>(topology.cores, 1);
  resources.threads = std::max<std::int64_t>(static_cast<std::int64_t>(topology.cpus.size()), 1);
  const auto with_cpus = std::count_if(topology.nodes.begin(), topology.nodes.end(),
                                       [](const platform::NumaNode& node) { return !node.cpus.empty(); });
  resources.nodes = std::max<std::int64_t>(with_cpus, 1);
  if (quota && *quota < static_cast<double>(resources.threads)) resources.quota = quota;
  return resources;
}

std::string title(const Resources& resources) {
  const auto counted = [](std::int64_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  auto text = fmt::format("{}, {}, {}, {}", counted(resources.sockets, "socket"), counted(resources.nodes, "NUMA node"),
                          counted(resources.cores, "core"), counted(resources.threads, "thread"));
  if (resources.quota) text += fmt::format(", a quota of {:g} CPUs", *resources.quota);
  return text;
}

}  // namespace assay::tune
