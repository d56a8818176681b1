#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "assay/plan/campaign.hpp"
#include "assay/plan/catalog/catalog.hpp"
#include "assay/plan/sweeps/trial_sweep.hpp"

namespace assay::plan {

/// Reads a campaign file (docs/formats/campaign.schema.json). `file_name` stands in messages, and its stem is the name
/// of a campaign that has none. Throws Error{usage} "file:line:column: what, the value, the fix".
Campaign read_spec(std::string_view text, const std::string& file_name, const Catalog& catalog,
                   const SweepLimits& limits = {});

/// As read_spec, from a file of at most 1 MiB.
Campaign read_spec_file(const std::filesystem::path& path, const Catalog& catalog);

}  // namespace assay::plan
