#pragma once

#include <string>

#include "assay/predict/calibration/score.hpp"
#include "assay/report/look.hpp"

namespace assay::report {

/// Predictions beside what was measured: every point, errors, how many ranges held, and what nothing was found for.
std::string prediction_score_report(const predict::PredictionScore& score, const Look& look);

}  // namespace assay::report
