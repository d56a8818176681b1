#pragma once

#include <string>

#include "assay/core/json.hpp"

namespace assay::platform {

/// A machine as measurements see it: what stays the same from boot to boot, within the CPUs allowed.
struct Machine {
  std::string id;
  json description;
};

Machine this_machine();

/// Kernel, load, governor and huge pages now: state of a run, no part of the machine's identity.
json machine_state();

}  // namespace assay::platform
