#pragma once

#include "assay/model/links/collective.hpp"
#include "assay/predict/devices/kernel_law.hpp"

namespace assay::predict {

/// What devices of a node do together; `bytes` as of model::Collective.
struct CollectiveWork {
  model::Collective collective = model::Collective::all_reduce;
  double devices = 2;
  double bytes = 0;
};

/// Bytes that each device sends in a ring: 2 (n - 1) / n of the buffer for a sum, half as many for the others.
double ring_bytes(const CollectiveWork& work);

const std::vector<LawConstantSpec>& collective_constants();

/// (latency^q + (bytes / rate)^q)^(1/q) and a part that grows with the square root, for sizes in between.
double collective_seconds(const CollectiveWork& work, const DeviceSheet& sheet, const std::vector<double>& constants);

double collective_roofline(const CollectiveWork& work, const DeviceSheet& sheet);

/// Rows of one device, collective and number of devices.
KernelLaw fit_collective(const std::vector<CollectiveWork>& works, const std::vector<double>& seconds,
                         const DeviceSheet& sheet, const std::string& source);

KernelLaw data_sheet_collective_law();

}  // namespace assay::predict
