#include "assay/store/selection.hpp"

#include <algorithm>

namespace assay::store {

CampaignRow choose_campaign(const std::vector<CampaignRow>& campaigns, const std::string& named,
                            const std::string& store) {
  const auto newest = std::find_if(campaigns.rbegin(), campaigns.rend(), [&](const CampaignRow& row) {
    return row.name == named || (named.size() >= 4 && row.id.starts_with(named));
  });
  if (newest == campaigns.rend()) {
    fail(ErrorKind::usage, "there is no campaign {} in {}. `assay show --all` lists them.", shown(named),
         shown_location(store));
  }
  return *newest;
}

TrialRow choose_trial(const std::vector<TrialRow>& trials, const std::string& named, const std::string& store) {
  if (trials.empty()) {
    fail(ErrorKind::usage, "there is no trial {} in {}.", shown(named), shown_location(store));
  }
  if (trials.size() > 1) {
    fail(ErrorKind::usage, "{} is the beginning of {} trials. Give more digits.", shown(named), trials.size());
  }
  return trials[0];
}

}  // namespace assay::store
