#pragma once

#include <string>

#include "assay/predict/calibration/calibrated_rows.hpp"
#include "assay/report/look.hpp"

namespace assay::report {

/// A cluster's constants, how close they come to the rows they are from, and what they say of more devices.
std::string calibration_report(const predict::ClusterCalibration& found, const Look& look);

}  // namespace assay::report
