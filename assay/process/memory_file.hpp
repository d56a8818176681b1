#pragma once

#include <string>

#include "assay/process/descriptor.hpp"

namespace assay::process {

/// A file in memory that is read from its beginning: input for a program that no pipe has to be fed with. Throws
/// FileError.
Fd memory_file(const std::string& text);

}  // namespace assay::process
