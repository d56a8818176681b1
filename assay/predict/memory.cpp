#include "assay/predict/memory.hpp"

#include "assay/network/cost.hpp"

namespace assay::predict {

double optimizer_bytes_per_parameter(const std::string& optimizer, const std::string& precision) {
  const double copy = network::bytes_of(precision) < 4 ? 4 : 0;
  if (optimizer == "sgd") return copy + 4;
  if (optimizer == "adam") return copy + 8;
  fail(ErrorKind::usage, "--optimizer: {} is not known. Write sgd (with momentum) or adam.", shown(optimizer));
}

MemoryUse memory_use(const LayerTable& table, const Cluster& cluster, const Practice& practice,
                     const std::string& optimizer, const std::string& precision) {
  const auto devices = static_cast<double>(cluster.devices());
  const double bytes = table.gradient_bytes();
  const double parameters = bytes / static_cast<double>(network::bytes_of(precision));
  MemoryUse use;
  use.parameter_bytes = practice.zero >= 3 ? bytes / devices : bytes;
  use.gradient_bytes = practice.zero >= 2 ? bytes / devices : bytes;
  use.optimizer_bytes = parameters * optimizer_bytes_per_parameter(optimizer, precision);
  if (practice.zero >= 1) use.optimizer_bytes /= devices;
  use.activation_bytes = table.activation_bytes();
  return use;
}

}  // namespace assay::predict
