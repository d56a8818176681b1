#pragma once

#include "assay/predict/calibration/score.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// Predictions beside what was measured: every point, errors, how many ranges held, and what nothing was found for.
Document prediction_score_document(const predict::PredictionScore& score);

}  // namespace assay::report
