#pragma once

#include <string>

namespace assay::cli {

/// `assay predict --calibrate`: prints a cluster's constants from a user's own measured rows, and what they say of
/// `devices` (a sweep; empty: nothing).
void print_calibration(const std::string& rows, const std::string& devices, bool as_json);

}  // namespace assay::cli
