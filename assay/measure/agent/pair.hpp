#pragma once

#include <optional>
#include <vector>

#include "assay/core/record.hpp"

namespace assay::measure {

/// What a lock-step pair says: the median over its rounds of ln(step of b / step of a). A round is a slice of either
/// side, one right behind the other, so that both met the same host. Null where no round has both sides.
std::optional<double> pair_log_ratio(const std::vector<RankResult>& a, const std::vector<RankResult>& b);

}  // namespace assay::measure
