#pragma once

#include "assay/compare/scaling.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// Every curve as a table with bars: how much of each added CPU becomes speed.
Document scaling_document(const compare::ScalingStudy& study);

}  // namespace assay::report
