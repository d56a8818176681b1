#pragma once

#include <string>

namespace assay::cli {

/// The page that was built with the script in it. Throws Error where the program was built without it.
std::string report_form();

}  // namespace assay::cli
