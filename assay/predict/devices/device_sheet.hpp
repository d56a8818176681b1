#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay::predict {

/// What weights and products are computed in.
enum class ProductType { bf16, fp8, fp4, int8, int4 };

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::ProductType> {
  static constexpr std::array<const char*, 5> names{"bf16", "fp8", "fp4", "int8", "int4"};
};

namespace assay::predict {

/// Bytes of a weight, with its scales: blocks of 16 share a byte in fp4, groups of 128 two bytes in int4.
double weight_bytes(ProductType type);

/// What a maker says of a device. Rates are without sparsity; a link's rate is that of one direction.
struct DeviceSheet {
  std::string name;
  double bf16_flops_per_second = 0;
  std::optional<double> fp8_flops_per_second;  ///< null: no such units, and products run as bf16
  std::optional<double> fp4_flops_per_second;
  double memory_bytes = 0;
  double memory_bytes_per_second = 0;
  std::int64_t multiprocessors = 0;  ///< SMs, or compute units
  double cache_bytes = 0;            ///< the last cache before the memory
  double link_bytes_per_second = 0;  ///< to the other devices of its node, all links together
  double watts = 0;                  ///< board power
  std::string source;
  double tile_rows = 64;  ///< of the smallest tile of a product; 1 on CPUs, where a row costs its own work

  /// Of the units that compute products of this type: the weights of int8 and int4 are widened to bf16 first.
  double peak(ProductType type) const;
};

template <typename V>
void describe(V& v, DeviceSheet& s) {
  required(v, "name", s.name);
  required(v, "bf16_flops_per_second", s.bf16_flops_per_second);
  v("fp8_flops_per_second", s.fp8_flops_per_second);
  v("fp4_flops_per_second", s.fp4_flops_per_second);
  required(v, "memory_bytes", s.memory_bytes);
  required(v, "memory_bytes_per_second", s.memory_bytes_per_second);
  required(v, "multiprocessors", s.multiprocessors);
  required(v, "cache_bytes", s.cache_bytes);
  required(v, "link_bytes_per_second", s.link_bytes_per_second);
  required(v, "watts", s.watts);
  v("tile_rows", s.tile_rows);
  v("source", s.source);
}

/// Throws Error{bad_input} that names the sheet where a number is not finite and above zero.
void check(const DeviceSheet& sheet);

/// Devices of one kind in a machine as it is sold.
struct NodeType {
  std::string name;
  std::string device;
  std::int64_t devices = 8;
  std::int64_t rails = 8;            ///< network cards of the fabric that joins nodes
  double rail_bytes_per_second = 0;  ///< of each, one direction
  std::int64_t linked_devices = 8;   ///< that reach each other by the device's links, also beyond the node
  std::string source;
};

template <typename V>
void describe(V& v, NodeType& n) {
  required(v, "name", n.name);
  required(v, "device", n.device);
  required(v, "devices", n.devices);
  required(v, "rails", n.rails);
  required(v, "rail_bytes_per_second", n.rail_bytes_per_second);
  required(v, "linked_devices", n.linked_devices);
  v("source", n.source);
}

const std::vector<DeviceSheet>& all_device_sheets();
const std::vector<NodeType>& all_node_types();

/// The sheet of a name as people and tables write it: "h100", "H100_SXM", "h100-80gb", "NVIDIA H100 80GB HBM3".
/// Null where no sheet is meant, as by the path of a device file.
const DeviceSheet* find_device_sheet(std::string_view name);

/// The same, or Error{usage} that lists the names.
const DeviceSheet& device_sheet(std::string_view name);

}  // namespace assay::predict
