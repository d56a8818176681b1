#pragma once

#include "assay/compare/estimate.hpp"

// Times to an accuracy that some runs have not reached: of those a lower bound is known, and no time.

namespace assay::compare {

/// Whether a run learnt up to its last epoch without the accuracy that it was to end at.
bool has_not_reached(const store::RunRow& row);

/// Compares runs of either side by their order: one that has not reached the accuracy within its epochs counts as
/// longer than any that has, and as equal to others that have not. Fills in sides, method, ranks and, where both have
/// one, the ratio of the medians. Throws Error{usage} where the runs may not take equally many epochs.
void compare_by_ranks(const Rows& a, const Rows& b, Comparison& out);

}  // namespace assay::compare
