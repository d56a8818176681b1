#pragma once

#include "assay/measure/spawn.hpp"

namespace assay::cli {

/// SIGINT, SIGTERM and SIGHUP as a descriptor that becomes readable: long work looks at it whenever it waits.
measure::Fd stop_signals();

}  // namespace assay::cli
