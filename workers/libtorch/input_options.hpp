#pragma once

#include "workers/common/values.hpp"
#include "workers/common/worker.hpp"

namespace assay::libtorch {

/// One input of a TorchScript file, as the options of the workload describe it.
struct InputOption {
  std::string name;
  worker::Shape shape;  ///< of a sample, without the batch
  bool integer = false;
};

/// Reads the options `input`, `input2`, … in their order: "3x224x224", or "integer:128" for 64-bit integers. Throws
/// Refused by name where there is none, one is missing or malformed, or another option is given.
std::vector<InputOption> input_options(const Workload& workload);

}  // namespace assay::libtorch
