#include "cli/campaign.hpp"

#include <algorithm>

namespace assay::cli {

store::CampaignRow choose_campaign(const std::vector<store::CampaignRow>& campaigns, const std::string& named,
                                   const std::string& store) {
  const auto newest = std::find_if(campaigns.rbegin(), campaigns.rend(), [&](const store::CampaignRow& row) {
    return row.name == named || (named.size() >= 4 && row.id.starts_with(named));
  });
  if (newest == campaigns.rend()) {
    fail(ErrorKind::usage, "there is no campaign {} in {}. `assay show --all` lists them.", shown(named), store);
  }
  return *newest;
}

}  // namespace assay::cli
