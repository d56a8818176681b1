#pragma once

#include <string>
#include <vector>

#include "assay/compare/history.hpp"
#include "assay/report/exports/check.hpp"
#include "assay/report/look.hpp"

namespace assay::report {

/// Every series for a person: a line with its points as a small curve, its changes, what was set aside.
std::string history_report(const compare::History& history, const Look& look);

/// A check for each series: failed where its newest change is a slow-down, undecided where it has too few points.
std::vector<Check> history_checks(const compare::History& history);

/// Heights of positive `values` over their range, or over 5 % of the smallest where that is more, oldest first; where
/// they are more than `columns`, neighbours share one by their median. Eight levels in block characters, otherwise four
/// in ASCII.
std::string spark_line(const std::vector<double>& values, std::size_t columns, bool blocks);

}  // namespace assay::report
