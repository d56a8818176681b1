#pragma once

#include <filesystem>
#include <vector>

#include "assay/plan/catalog/catalog.hpp"

namespace assay::cli {

/// Helper programs: libexec beside the program in a build, ../libexec/assay where it is installed. ASSAY_LIBEXEC wins.
std::filesystem::path libexec_folder();

/// Files that commands read: share/assay beside the program in a build, ../share/assay where it is installed.
std::filesystem::path share_folder();

/// Folders that hold workers: those of ASSAY_WORKERS (separated by ':'), then the program's own.
std::vector<std::filesystem::path> worker_roots();

/// Folder below which the workers' virtual environments lie: ASSAY_ENVIRONMENTS, else assay/environments in the user's
/// data folder (XDG_DATA_HOME, else ~/.local/share). Absolute; empty where neither is set nor there is a home.
std::filesystem::path environments_root();

/// Folder for what workers keep between runs: ASSAY_CACHE, else assay in the user's cache folder (XDG_CACHE_HOME, else
/// ~/.cache). Empty where there is none.
std::filesystem::path cache_root();

/// Folder below which generated data sets lie: ASSAY_DATA_FOLDER, else assay/data in the user's data folder. Not in the
/// cache, which is trimmed file by file. Empty where there is none.
std::filesystem::path data_root();

/// The workers in worker_roots(), with their releases below environments_root().
plan::Catalog catalog_at_hand();

}  // namespace assay::cli
