#pragma once

#include <vector>

#include "assay/plan/sweeps/trial_sweep.hpp"

namespace assay::plan {

/// Sweeps without TrialSweep::threads: the numbers have become what each worker follows. That is intra_op, with one
/// operator at a time where a worker can run several; of a program, {threads} in its arguments, else OMP_NUM_THREADS.
/// Sweeps of several workers are parted by worker. Throws Error{usage} where a worker follows no number of threads, or
/// the sweep says it twice.
std::vector<TrialSweep> with_threads(const std::vector<TrialSweep>& sweeps, const Catalog& catalog);

/// Whether a program's arguments have {threads}.
bool takes_threads(const std::vector<std::string>& command);

}  // namespace assay::plan
