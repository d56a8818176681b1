#pragma once

#include "assay/predict/threads/settings_prediction.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// The fastest predicted settings of each quota, what it says of the guideline, and what the laws are.
Document settings_prediction_document(const predict::SettingsPrediction& prediction);

}  // namespace assay::report
