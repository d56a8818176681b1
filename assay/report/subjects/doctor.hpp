#pragma once

#include <string>

#include "assay/platform/machine/findings/health.hpp"

namespace assay::report {

/// What `assay doctor` prints: the machine, what can be measured with, what will spoil measurements and how to mend it.
/// Lines are broken at `width` columns, at 100 where it is 0. With `colour`, escape codes of a terminal.
std::string doctor_report(const platform::Examination& examination, std::size_t width, bool colour);

}  // namespace assay::report
