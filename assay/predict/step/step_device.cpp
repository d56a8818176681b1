#include "assay/predict/step/step_device.hpp"

namespace assay::predict {
namespace {

constexpr double kRingShare = .8;  // of the links inside a node, which a ring of large messages reaches
constexpr double kUsualRail = 25e9;

/// The node type whose devices have most links to other nodes: what is sold for training.
const NodeType* node_of(const std::string& device) {
  const NodeType* best = nullptr;
  for (const auto& node : all_node_types()) {
    if (node.device != device) continue;
    const auto rails = [](const NodeType& n) {
      return static_cast<double>(n.rails) * n.rail_bytes_per_second / static_cast<double>(n.devices);
    };
    if (best == nullptr || rails(node) > rails(*best)) best = &node;
  }
  return best;
}

StepDevice device_of(const DeviceLaws& laws) {
  const auto& sheet = laws.sheet;
  StepDevice d;
  d.sheet = sheet;
  const bool has = laws.products.contains("bf16");
  const auto law = has ? laws.products.at("bf16") : data_sheet_product_law();
  d.product = law.values();
  d.basis = law.basis;
  d.inside_bytes_per_second = kRingShare * sheet.link_bytes_per_second;
  d.rail_bytes_per_second = kUsualRail;
  if (const auto* node = node_of(sheet.name)) {
    d.rail_bytes_per_second =
        static_cast<double>(node->rails) * node->rail_bytes_per_second / static_cast<double>(node->devices);
    d.node_devices = node->linked_devices;
  }
  return d;
}

}  // namespace

bool is_step_device(std::string_view name) {
  return find_device_sheet(name) != nullptr;
}

StepDevice step_device(std::string_view name) {
  return device_of(find_device(std::string(name)));
}

StepDevice guessed_device(const std::string& name) {
  auto d = step_device("h100");
  d.sheet.name = name;
  d.sheet.source = "not known: taken for an H100";
  return d;
}

StepDevice step_device(const Cluster& cluster) {
  const auto& device = cluster.device;
  const auto* known = device.name.empty() ? nullptr : find_device_sheet(device.name);
  StepDevice d;
  if (known != nullptr) {
    d = step_device(known->name);
  } else {
    if (!device.flops_per_second || !device.memory_bytes_per_second) {
      fail(ErrorKind::usage,
           "{}: the device lacks its peak or memory_bandwidth. Add them, or name a device that is "
           "known, such as h100.",
           cluster.name.empty() ? "the cluster file" : cluster.name);
    }
    d = step_device("h100");
    d.sheet.name = device.name;
    d.sheet.source = "the cluster file";
    d.product = data_sheet_product_law().values();
    d.product[0] = device.efficiency.middle();
    d.basis = LawBasis::data_sheet;
  }
  if (device.flops_per_second) d.sheet.bf16_flops_per_second = *device.flops_per_second;
  if (device.memory_bytes_per_second) d.sheet.memory_bytes_per_second = *device.memory_bytes_per_second;
  if (device.memory_bytes) d.sheet.memory_bytes = *device.memory_bytes;
  d.node_devices = cluster.devices_per_node;
  if (cluster.inside) d.inside_bytes_per_second = cluster.inside->bytes_per_second;
  if (cluster.across) {
    const auto sharing = static_cast<double>(cluster.across_per == Sharing::device ? 1 : cluster.devices_per_node);
    d.rail_bytes_per_second = cluster.across->bytes_per_second / sharing / cluster.topology.oversubscription;
  }
  return d;
}

double product_seconds(const StepDevice& device, double m, double n, double k) {
  return product_seconds(ProductWork{m, n, k, ProductType::bf16}, device.sheet, device.product);
}

}  // namespace assay::predict
