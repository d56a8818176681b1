#pragma once

#include "assay/report/document.hpp"
#include "assay/vet/audit.hpp"

namespace assay::report {

/// Every check of an audit, what an honest worker does, and how many raise an alarm.
Document audit_document(const vet::AuditResult& result);

}  // namespace assay::report
