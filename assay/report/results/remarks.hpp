#pragma once

#include <vector>

#include "assay/report/document.hpp"
#include "assay/report/results/result.hpp"

namespace assay::report {

/// Items: what stood in the way of runs, and settings that did not take effect as asked.
void add_remarks(const std::vector<Result>& results, Document& out);

}  // namespace assay::report
