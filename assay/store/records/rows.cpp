#include "assay/store/records/rows.hpp"

#include <algorithm>

namespace assay::store {

void check_not_held(std::int64_t leases, const std::string& campaign) {
  if (leases == 0) return;
  fail(ErrorKind::usage, "campaign {}: agents are at {} of its runs. End them, or wait for them, then drop it.",
       shown(campaign), leases);
}

bool is_elsewhere(const Measure& measure, const std::optional<Offer>& offer) {
  return offer && measure.platform && !offer->platform.starts_with(*measure.platform);
}

bool checked_again(const Lease& lease, const std::vector<Finished>& finished) {
  ASSAY_CHECK(finished.size() == lease.runs.size());
  for (std::size_t i = 0; i < finished.size(); ++i) {
    const auto& record = finished[i].record;
    ASSAY_CHECK(record.campaign == lease.campaign);
    ASSAY_CHECK(record.trial == lease.runs[i].trial_id);
    ASSAY_CHECK(record.index == lease.runs[i].index);
    ASSAY_CHECK(record.attempt == lease.runs[i].attempt);
  }
  return std::any_of(finished.begin(), finished.end(), [](const Finished& one) { return one.again; });
}

Record as_stored(const Finished& finished, const LeasedRun& run, bool again) {
  Record record = finished.record;
  record.counted = !again;
  record.pair = run.pair;
  record.outcome.message = as_utf8(record.outcome.message);
  return record;
}

}  // namespace assay::store
