#pragma once

#include <filesystem>
#include <vector>

namespace assay::cli {

/// Helper programs: libexec beside the program in a build, ../libexec/assay where it is installed. ASSAY_LIBEXEC wins.
std::filesystem::path libexec_folder();

/// Folders that hold workers: those of ASSAY_WORKERS (separated by ':'), then the program's own.
std::vector<std::filesystem::path> worker_roots();

/// Folder below which the workers' virtual environments lie: ASSAY_ENVIRONMENTS, else assay/environments in the user's
/// data folder (XDG_DATA_HOME, else ~/.local/share). Absolute; empty where neither is set nor there is a home.
std::filesystem::path environments_root();

}  // namespace assay::cli
