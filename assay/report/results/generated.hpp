#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"

namespace assay::report {

/// Medians over runs of what each says of generated text: of every figure, and of every point of the curve. Null where
/// no run generated.
std::optional<GeneratedSummary> generated_of(const std::vector<const Summary*>& runs);

/// For a person, a line each: times and rates, the curve at its ends and in its middle, memory.
std::vector<std::string> generated_lines(const GeneratedSummary& generated, const Generation& asked);

}  // namespace assay::report
