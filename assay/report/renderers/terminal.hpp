#pragma once

#include <string>

#include "assay/report/document.hpp"
#include "assay/report/look.hpp"

namespace assay::report {

/// A document as lines of a terminal, each ended. Text from outside cannot steer the terminal.
std::string as_terminal(const Document& document, const Look& look);

/// Heights of positive `values` over their range, or over 5 % of the smallest where that is more, oldest first; where
/// they are more than `columns`, neighbours share one by their median. Eight levels in block characters, otherwise four
/// in ASCII.
std::string spark_line(const std::vector<double>& values, std::size_t columns, bool blocks);

}  // namespace assay::report
