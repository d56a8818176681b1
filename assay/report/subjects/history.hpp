#pragma once

#include <string>
#include <vector>

#include "assay/compare/alert.hpp"
#include "assay/compare/history.hpp"
#include "assay/report/document.hpp"
#include "assay/report/exports/check.hpp"

namespace assay::report {

/// Every series for a person: a line with its points as a small curve, its changes, what was set aside.
Document history_document(const compare::History& history);

/// A check for each series: failed where its newest change is a slow-down, undecided where it has too few points.
std::vector<Check> history_checks(const compare::History& history);

/// The series for which history_checks() has a check that failed, the largest slow-down first; none where there is
/// none.
compare::Alert history_alert(const compare::History& history, const std::string& store);

}  // namespace assay::report
