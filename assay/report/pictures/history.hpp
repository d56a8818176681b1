#pragma once

#include "assay/compare/history.hpp"
#include "assay/report/pictures/picture.hpp"

namespace assay::report {

/// One series with its changes of level, the newest 400 points of it. Id, command and axes are left to the caller.
Picture history_picture(const compare::HistorySeries& series, compare::Over over);

}  // namespace assay::report
