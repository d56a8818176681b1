#pragma once

#include "workers/common/worker.hpp"

namespace assay::worker {

/// Throws Refused where the hash of the bytes that were read is not the planned one.
void refuse_changed(const NetworkFile& file, const std::string& found);

/// The same for a file that the framework reads by itself, however large; also where it cannot be read.
void check_unchanged(const NetworkFile& file);

}  // namespace assay::worker
