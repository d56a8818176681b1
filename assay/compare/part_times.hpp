#pragma once

#include <vector>

#include "assay/store/store.hpp"

namespace assay::compare {

/// Puts the time of `what` in the place of each run's median step, so that it is what is compared. The ratio within a
/// lock-step group follows from those of its members. A run without such a time has none then.
void take_times_of(TimeOf what, std::vector<store::RunRow>& rows);

/// The same with the time up to the accuracy, of runs that learn. Throws Error{usage} where one of them has not reached
/// it: that its time is longer than a cap is known, but not how long.
void take_times_to_accuracy(std::vector<store::RunRow>& rows);

}  // namespace assay::compare
