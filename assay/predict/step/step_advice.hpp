#pragma once

#include <vector>

#include "assay/predict/scaling.hpp"
#include "assay/predict/step/stack.hpp"

namespace assay::predict {

/// What would help a job, most helpful first: flags of `assay predict` and faster links, each predicted again by the
/// same constants. Of a job that fits only what fits and gains at least 1 %; of one that does not, whatever makes it
/// fit.
std::vector<Improvement> advise_step(const Stack& stack, const JobRow& job);

}  // namespace assay::predict
