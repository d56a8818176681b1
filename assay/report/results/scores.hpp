#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "assay/predict/calibration/score.hpp"
#include "assay/store/store.hpp"

namespace assay::report {

constexpr const char* kPredictionKind = "prediction";  ///< of artifacts

/// A prediction as a store holds it. Throws Error{bad_input} where this release cannot read it.
predict::KeptPrediction kept_prediction(const store::Artifact& artifact);

/// What a step was found to take: runs of training that ended well and were not disturbed, one process for each device.
/// A run whose trial is not given is left out.
std::vector<predict::StepTruth> step_truths(const std::vector<store::TrialRow>& trials,
                                            const std::vector<store::RunRow>& runs);

/// The newest of them for which something was measured, newest first, each with a score of its own; at most `most`.
std::vector<predict::PredictionScore> newest_scores(const std::vector<predict::KeptPrediction>& kept,
                                                    const std::vector<predict::StepTruth>& truths, std::size_t most);

}  // namespace assay::report
