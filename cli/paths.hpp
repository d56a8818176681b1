#pragma once

#include <filesystem>
#include <vector>

namespace assay::cli {

/// Helper programs: libexec beside the program in a build, ../libexec/assay where it is installed. ASSAY_LIBEXEC wins.
std::filesystem::path libexec_folder();

/// Folders that hold workers: those of ASSAY_WORKERS (separated by ':'), then the program's own.
std::vector<std::filesystem::path> worker_roots();

}  // namespace assay::cli
