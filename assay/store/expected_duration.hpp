#pragma once

#include <optional>
#include <string>

#include "assay/plan/campaign.hpp"

namespace assay::store {

/// How long a campaign may take, by what earlier runs of the same workers in this store took beside their samples.
struct Expected {
  double seconds = 0;
  std::int64_t runs = 0;  ///< earlier ones that say so
};

/// Null where there is no store yet, or no run of one of the workers in it.
std::optional<Expected> expected_duration(const plan::Campaign& campaign, const std::string& store);

}  // namespace assay::store
