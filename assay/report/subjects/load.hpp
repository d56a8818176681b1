#pragma once

#include <string>

#include "assay/load/load.hpp"
#include "assay/report/look.hpp"

namespace assay::report {

/// What `assay load` prints.
std::string load_report(const load::LoadResult& result, const Look& look);

/// One line on a run of a search, while it goes on.
std::string load_progress(const load::LoadPoint& point);

}  // namespace assay::report
