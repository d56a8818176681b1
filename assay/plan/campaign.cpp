#include "assay/plan/campaign.hpp"

#include "assay/core/hash.hpp"

namespace assay::plan {

std::string campaign_id(const Campaign& campaign, std::int64_t round) {
  json identity = {{"name", campaign.name},
                   {"seed", campaign.seed},
                   {"lockstep", campaign.lockstep},
                   {"measure", to_json(campaign.measure)},
                   {"round", round},
                   {"trials", json::array()}};
  for (const auto& trial : campaign.trials) identity["trials"].push_back(trial_id(trial));
  return hash_hex(canonical_json(identity));
}

std::int64_t run_order(std::int64_t seed, const std::string& trial_id, std::int64_t index) {
  return hash_int(fmt::format("order {} {} {}", seed, trial_id, index));
}

std::int64_t run_seed(std::int64_t seed, const std::string& trial_id, std::int64_t index) {
  // 53 bits, so that every language's JSON reader keeps it exact.
  return hash_int(fmt::format("seed {} {} {}", seed, trial_id, index)) >> 10;
}

}  // namespace assay::plan
