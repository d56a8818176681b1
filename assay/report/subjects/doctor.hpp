#pragma once

#include "assay/platform/machine/findings/health.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// What `assay doctor` prints: the machine, what can be measured with, what will spoil measurements and how to mend it.
Document doctor_document(const platform::Examination& examination);

/// What `assay doctor --findings` prints.
Document findings_document(const platform::FindingReference& reference);

}  // namespace assay::report
