#include "assay/predict/cluster.hpp"

namespace assay::predict {

Cluster part_of(const Cluster& cluster, std::int64_t devices) {
  if (devices < 1 || devices > cluster.devices()) {
    fail(ErrorKind::usage,
         "{} devices: the cluster has {} ({} nodes x {}). Ask for fewer, or raise nodes: in its file.", devices,
         cluster.devices(), cluster.nodes, cluster.devices_per_node);
  }
  auto part = cluster;
  if (devices <= cluster.devices_per_node) {
    part.nodes = 1;
    part.devices_per_node = devices;
    return part;
  }
  if (devices % cluster.devices_per_node != 0) {
    const auto fewer = devices / cluster.devices_per_node * cluster.devices_per_node;
    fail(ErrorKind::usage, "{} devices fill no whole nodes of {}. Ask for {} or {}.", devices, cluster.devices_per_node,
         fewer, fewer + cluster.devices_per_node);
  }
  part.nodes = devices / cluster.devices_per_node;
  return part;
}

}  // namespace assay::predict
