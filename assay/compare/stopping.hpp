#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "assay/store/store.hpp"

namespace assay::compare {

/// What a sequential measurement knows at a look.
struct TrialProgress {
  std::int64_t runs = 0;             ///< done
  std::optional<double> half_width;  ///< of the interval, as a share; null where there is none yet
  std::int64_t wanted = 0;           ///< runs it should have now; as many as are done: it is finished
};

/// How many runs each trial of a campaign should have now, in the order of `trials`: up to the next look where the
/// interval is still too wide, unless the most runs or the time is spent. `rows` are the counted ones. In a lock-step
/// campaign the interval is the widest of the ratios to the reference. Lock-step or not, it is 95 % over all looks
/// together.
std::vector<TrialProgress> look(const store::CampaignRow& campaign, const std::vector<store::TrialRow>& trials,
                                const std::vector<store::RunRow>& rows);

}  // namespace assay::compare
