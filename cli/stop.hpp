#pragma once

#include "assay/process/spawn.hpp"

namespace assay::cli {

/// SIGINT, SIGTERM and SIGHUP as a descriptor that becomes readable: long work looks at it whenever it waits.
process::Fd stop_signals();

/// Whether `stop_fd` is readable, or becomes so within `seconds`.
bool asked_to_stop(int stop_fd, double seconds);

}  // namespace assay::cli
