#pragma once

#include <string>
#include <vector>

#include "assay/store/store.hpp"

namespace assay::store {

/// The campaign that a person names: by its name, or by the first digits (four or more) of its id; of several the
/// newest. Throws Error{usage} where `store` holds none.
CampaignRow choose_campaign(const std::vector<CampaignRow>& campaigns, const std::string& named,
                            const std::string& store);

/// The one trial whose id begins with `named`, of those that `store` found for it. Throws Error{usage} where there is
/// none, or more than one.
TrialRow choose_trial(const std::vector<TrialRow>& trials, const std::string& named, const std::string& store);

}  // namespace assay::store
