#pragma once

#include "assay/core/settings.hpp"

namespace assay::tune {

/// Settings found with `from` cores, for `to` cores. Threads per core stay as they were found, rounded down:
/// instances x inter_op x intra_op <= tuned x to / from, but for one of each at least. What one instance does was
/// measured with its threads, so that the number of instances changes first, in proportion and rounded down; threads
/// that are left over then go to those there are. One instance stays one: nobody's program becomes several.
/// inter_op shrinks only where intra_op has come down to 1. A count that is null stays so.
Settings rescaled(Settings settings, std::int64_t from, std::int64_t to);

}  // namespace assay::tune
