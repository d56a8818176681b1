#pragma once

#include <string>
#include <string_view>

#include "assay/predict/cluster.hpp"
#include "assay/predict/devices/device_laws.hpp"

namespace assay::predict {

/// A device, the law of its products and the links of its node, as a step of training needs them. Rates are of one
/// direction.
struct StepDevice {
  DeviceSheet sheet;
  std::vector<double> product;  ///< constants of the law of products in bf16
  LawBasis basis = LawBasis::data_sheet;
  double inside_bytes_per_second = 0;  ///< what a ring inside a node reaches on each device
  double rail_bytes_per_second = 0;    ///< of one device to other nodes
  std::int64_t node_devices = 8;       ///< that the links inside reach
};

/// Whether the catalogue has such a device.
bool is_step_device(std::string_view name);

/// A device of the catalogue, or of a device file where the name ends with .json (docs/predict.md); its node is as that
/// device is sold, else 8 devices with 25 GB/s each to other nodes. Throws Error{usage} with the names where the
/// catalogue lacks it, Error{bad_input} where the file cannot be read.
StepDevice step_device(std::string_view name);

/// A device that is meant to be like others of its time: for a job whose device has no data sheet here. A guess.
StepDevice guessed_device(const std::string& name);

/// The device of a cluster file. Where the catalogue knows its name the laws are its own, else those of its data sheet
/// at the middle of the stated efficiency. Throws Error{usage} where the file lacks the peak or the memory's rate.
StepDevice step_device(const Cluster& cluster);

/// Seconds of a product of m x k by k x n.
double product_seconds(const StepDevice& device, double m, double n, double k);

}  // namespace assay::predict
