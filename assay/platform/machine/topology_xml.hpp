#pragma once

#include <string>

#include "assay/platform/machine/topology.hpp"

namespace assay::platform {

/// Reads XML in this process. A malformed text may crash it: only for a process that may crash.
Topology topology_from_trusted_xml(const std::string& text, const std::string& name);

}  // namespace assay::platform
