#pragma once

#include <string>

namespace assay::cli {

/// What `assay --version` prints: the version alone on the first line, then how this program was built and for what.
std::string version_text();

}  // namespace assay::cli
