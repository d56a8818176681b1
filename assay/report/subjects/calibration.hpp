#pragma once

#include "assay/predict/calibration/calibrated_rows.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// A cluster's constants, how close they come to the rows they are from, and what they say of more devices.
Document calibration_document(const predict::ClusterCalibration& found);

}  // namespace assay::report
