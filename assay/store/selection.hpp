#pragma once

#include <string>
#include <vector>

#include "assay/store/store.hpp"

namespace assay::store {

/// The campaign that a person names: by its name, or by the first digits (four or more) of its id; of several the
/// newest. Throws Error{usage} where `store` holds none.
CampaignRow choose_campaign(const std::vector<CampaignRow>& campaigns, const std::string& named,
                            const std::string& store);

/// The same where a mistake cannot be undone: several campaigns of that name are refused, with their ids.
CampaignRow only_campaign(const std::vector<CampaignRow>& campaigns, const std::string& named,
                          const std::string& store);

/// Gives a campaign, with all its rounds, another name. Its id stays: the command that made it still finds it. Throws
/// Error{usage} where the name cannot be one, or the store is not a file.
void rename_campaign(const std::string& store, const std::string& id, const std::string& name);

/// The one trial whose id begins with `named`, of those that `store` found for it. Throws Error{usage} where there is
/// none, or more than one.
TrialRow choose_trial(const std::vector<TrialRow>& trials, const std::string& named, const std::string& store);

}  // namespace assay::store
