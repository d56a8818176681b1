#pragma once

#include <string>

#include "assay/load/load.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// What `assay load` answers.
Document load_document(const load::LoadResult& result);

/// One line on a run of a search, while it goes on.
std::string load_progress(const load::LoadPoint& point);

}  // namespace assay::report
