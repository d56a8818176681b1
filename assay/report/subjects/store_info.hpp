#pragma once

#include "assay/report/document.hpp"
#include "assay/store/store.hpp"

namespace assay::report {

/// What a store holds, a term for each.
Document store_info_document(const store::StoreInfo& info);

/// What is wrong with records, and how many were held to their receipts.
Document verification_document(const store::Verification& found);

}  // namespace assay::report
