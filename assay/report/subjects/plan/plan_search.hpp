#pragma once

#include "assay/predict/search/plan_search.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// Numbers of devices with their best splits, the one to take, its ranking and its neighbourhood; clusters beside each
/// other.
Document plan_search_document(const predict::PlanSearch& said);

}  // namespace assay::report
