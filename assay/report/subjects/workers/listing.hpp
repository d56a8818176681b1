#pragma once

#include <vector>

#include "assay/plan/catalog/catalog.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// Workers that are at hand, what each can run, and how to install those that are missing.
Document workers_document(const std::vector<plan::WorkerInfo>& workers);

}  // namespace assay::report
