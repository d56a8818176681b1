#include "cli/campaign.hpp"

#include <algorithm>

namespace assay::cli {

store::CampaignRow choose_campaign(const std::vector<store::CampaignRow>& campaigns, const std::string& named,
                                   const std::string& store) {
  const auto newest = std::find_if(campaigns.rbegin(), campaigns.rend(), [&](const store::CampaignRow& row) {
    return row.name == named || (named.size() >= 4 && row.id.starts_with(named));
  });
  if (newest == campaigns.rend()) {
    fail(ErrorKind::usage, "there is no campaign {} in {}. `assay show --all` lists them.", shown(named),
         store::shown_location(store));
  }
  return *newest;
}

store::TrialRow choose_trial(const std::vector<store::TrialRow>& trials, const std::string& named,
                             const std::string& store) {
  if (trials.empty()) {
    fail(ErrorKind::usage, "there is no trial {} in {}.", shown(named), store::shown_location(store));
  }
  if (trials.size() > 1) {
    fail(ErrorKind::usage, "{} is the beginning of {} trials. Give more digits.", shown(named), trials.size());
  }
  return trials[0];
}

}  // namespace assay::cli
