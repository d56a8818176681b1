#pragma once

#include <vector>

#include "assay/report/document.hpp"
#include "assay/vet/equality.hpp"

namespace assay::report {

/// How far workers are from the first, and why one is not equal. `trains`: first gradients and losses were compared.
Document equality_document(const std::vector<vet::EqualityResult>& results, bool trains);

}  // namespace assay::report
