#pragma once

#include <optional>
#include <vector>

#include "assay/core/record.hpp"

namespace assay::measure {

/// What a lock-step group says of one of its sides: the median over rounds of ln(step of the side / step of the
/// reference). `results` are those of the group's sides, in order. A round is a slice of each, one right after the
/// other, so that all met the same host; the first step of a slice is left out where there are more. Null where no
/// round has both sides.
std::optional<double> log_ratio(const std::vector<std::vector<RankResult>>& results, std::size_t side,
                                std::size_t reference = 0);

}  // namespace assay::measure
