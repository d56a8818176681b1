#pragma once

#include "workers/libtorch/tensors.hpp"

namespace assay::libtorch {

/// Throws Refused by name for what this worker never does.
void refuse_what_there_is_not(const worker::Prepare& prepare);

/// What libtorch is told itself. A number of threads given here wins over the variables.
void apply_settings(const worker::Prepare& prepare);

/// Settings as libtorch says they took effect. Refuses a layout where no input is an image.
json read_back(const worker::Prepare& prepare, const Tensors& inputs);

/// Releases of libtorch and of what it stands on; what cannot be found out is left out.
std::map<std::string, std::string> versions();

}  // namespace assay::libtorch
