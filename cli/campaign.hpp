#pragma once

#include <string>
#include <vector>

#include "assay/store/store.hpp"

namespace assay::cli {

/// The campaign that a person names: by its name, or by the first digits (four or more) of its id; of several the
/// newest. Throws Error{usage} where `store` holds none.
store::CampaignRow choose_campaign(const std::vector<store::CampaignRow>& campaigns, const std::string& named,
                                   const std::string& store);

}  // namespace assay::cli
