#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/compare/families.hpp"
#include "assay/report/document.hpp"
#include "assay/report/exports/check.hpp"

namespace assay::report {

constexpr std::int64_t kFamiliesVersion = 1;

/// Everything a report on comparisons of several sides shows.
struct FamiliesData {
  std::vector<std::string> names;  ///< of the sides, as they were named
  compare::FamilyReference reference = compare::FamilyReference::first;
  compare::Families families;
  std::optional<double> gate;  ///< share from which a proved slow-down against the first side fails
  bool calibrated = false;     ///< the host's own noise is known
  std::string next_command;    ///< what would decide an open gate; empty: nothing to say

  /// Comparisons with the first side that fail the gate.
  std::int64_t failed() const;
  /// Those that leave it open: a slow-down is neither proved nor excluded.
  std::int64_t open() const;
};

/// A table and the verdicts of each family, and what the gate says.
Document families_document(const FamiliesData& data);

/// The published document, docs/formats/families.schema.json.
json json_families(const FamiliesData& data);

/// One for each side but the first. Without a gate any proved slow-down against the first fails.
std::vector<Check> checks_of(const FamiliesData& data);

}  // namespace assay::report
