#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/compare/compare.hpp"
#include "assay/report/document.hpp"
#include "assay/report/exports/check.hpp"

namespace assay::report {

/// What a gate found, of two sides or of several.
struct GateOutcome {
  double share = 0;          ///< from which a proved slow-down fails
  std::int64_t failed = 0;   ///< comparisons with one
  std::int64_t open = 0;     ///< of which it is neither proved nor excluded
  std::string of;            ///< " of 12", or empty
  std::string than;          ///< " than the first", or empty
  std::string next_command;  ///< what would decide it; empty: nothing to say
  bool advisory = false;     ///< the noise of a host is not known
};

/// Whether it passed, failed or cannot decide, what to do next, and whether it may be relied on.
void add_gate(const GateOutcome& gate, Document& out);

/// That verdicts do not know the host's own noise, and how they would.
void add_uncalibrated(Document& out);

/// What a gate asks of one comparison. Without a share any proved slow-down fails.
Check check_of(const compare::Comparison& comparison, const std::optional<double>& share, const std::string& first,
               const std::string& second, std::string sentence);

}  // namespace assay::report
