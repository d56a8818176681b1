#pragma once

#include "assay/predict/traces/trace_explanation.hpp"
#include "assay/predict/traces/trace_ranks.hpp"

namespace assay::predict {

/// The rank that takes longest where nobody waits for anybody, and where its time goes that the others' does not; none
/// where it takes less than 2 % longer than another.
std::optional<SlowRank> find_slow_rank(const std::vector<TraceWindow>& windows, const JoinedRanks& ranks,
                                       const std::vector<RankBreakdown>& breakdowns);

}  // namespace assay::predict
