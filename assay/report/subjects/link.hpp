#pragma once

#include "assay/model/links/link.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// What a link costs: a row for each algorithm, with which was recognised, and a sentence for each constant.
Document link_document(const model::LinkFit& link);

}  // namespace assay::report
