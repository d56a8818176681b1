#pragma once

#include "assay/predict/step/rows_prediction.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// Every job of a table with its step, range and memory, beside what was measured; then the errors and the constants.
Document rows_prediction_document(const predict::RowsPrediction& said);

/// One job on one or several numbers of devices: the same, and where the time and the memory of the last one go.
Document job_prediction_document(const predict::RowsPrediction& said);

}  // namespace assay::report
