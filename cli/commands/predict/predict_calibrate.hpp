#pragma once

#include <string>

#include "cli/flags/answer.hpp"

namespace assay::cli {

/// `assay predict --calibrate`: prints a cluster's constants from a user's own measured rows, and what they say of
/// `devices` (a sweep; empty: nothing).
void print_calibration(const std::string& rows, const std::string& devices, const AnswerFlags& wanted);

}  // namespace assay::cli
