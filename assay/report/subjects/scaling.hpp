#pragma once

#include <string>

#include "assay/compare/scaling.hpp"
#include "assay/report/look.hpp"

namespace assay::report {

/// Every curve as a table with bars: how much of each added CPU becomes speed.
std::string scaling_report(const compare::ScalingStudy& study, const Look& look);

}  // namespace assay::report
