#pragma once

#include <string>

#include "assay/predict/training/accuracy.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// "4.1 s, 2.3 s to 6 s"; without ends where they are not known.
std::string time_to_text(const model::TimeTo& time);

/// "308 steps (176 to 440) of batches of 32: median of 12 runs, of which 12 reached 97 %"
std::string steps_text(const model::StepsNeeded& needed);

/// "To 97 %: 4.1 s, 2.3 s to 6 s: 308 steps …"
std::string to_accuracy_sentence(const model::ToAccuracy& said);

/// A row for each measured step, with the time it would take to learn, and where the number of steps is from.
Document accuracy_prediction_document(const predict::AccuracyPrediction& said);

}  // namespace assay::report
