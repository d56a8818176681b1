#pragma once

#include <optional>
#include <string>

#include "assay/predict/search/search.hpp"
#include "assay/report/table.hpp"

namespace assay::report {

/// "4.07 s"; hours and days for longer ones.
std::string long_duration(double seconds);

/// "71.2 GiB".
std::string memory_size(double bytes);

/// "1.23M", or nothing where it is not known.
std::string amount(const std::optional<double>& value);

/// "4.07 s to 5.1 s".
std::string duration_range(double low_seconds, double high_seconds);

/// The parts of a step that take time, with a bar for each.
Table step_parts(const predict::StepTime& step);

}  // namespace assay::report
