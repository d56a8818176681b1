#pragma once

#include "assay/predict/serving/capacity_search.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// How many servers hold a load: the best split of each device, what limits the best, and what would help.
Document service_document(const predict::ServiceAnswer& answer);

}  // namespace assay::report
