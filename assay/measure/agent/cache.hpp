#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "assay/plan/catalog/catalog.hpp"

namespace assay::measure {

/// The folder below `root` in which a worker may keep what is costly to make from a graph, made where it is not there;
/// null where `root` is empty or cannot be written to: then nothing is kept.
std::optional<std::string> cache_of(const std::filesystem::path& root, const plan::WorkerInfo& worker);

/// Removes the files below `root` that were used longest ago until the rest has at most `bytes`.
void trim_cache(const std::filesystem::path& root, std::uintmax_t bytes);

}  // namespace assay::measure
