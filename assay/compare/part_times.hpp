#pragma once

#include <vector>

#include "assay/compare/compare.hpp"

namespace assay::compare {

/// Puts the time of `what` in the place of each run's median step, so that it is what is compared. The ratio within a
/// lock-step group follows from those of its members. A run without such a time has none then.
void take_times_of(TimeOf what, std::vector<store::RunRow>& rows);

/// The same with the time up to the accuracy, of runs that learn. One that has not reached it has none.
void take_times_to_accuracy(Material& material);

}  // namespace assay::compare
