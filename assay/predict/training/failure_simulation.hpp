#pragma once

#include <cstdint>
#include <vector>

#include "assay/predict/training/failures.hpp"

namespace assay::predict {

/// A failure in one simulated training.
struct SimulatedFailure {
  double at_seconds = 0;    ///< since the training began
  double lost_seconds = 0;  ///< of work and checkpoint that it undid; 0 within a restart
  double back_seconds = 0;  ///< when work goes on
};

template <typename V>
void describe(V& v, SimulatedFailure& f) {
  required(v, "at_seconds", f.at_seconds);
  required(v, "lost_seconds", f.lost_seconds);
  required(v, "back_seconds", f.back_seconds);
}

/// One course of a training: the same parts as in the mean, and its failures in order where they are asked for.
struct SimulatedTraining {
  TrainingTime time;
  std::vector<SimulatedFailure> failures;
};

/// Failures come at random at the practice's rate, from this seed; a broken node takes repair_seconds. The same seed
/// gives the same course. Throws as expected_time() does.
SimulatedTraining simulate_training(double work_seconds, double interval_seconds, const FailurePractice& practice,
                                    std::uint64_t seed, bool keep_failures);

}  // namespace assay::predict
