#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/compare/compare.hpp"
#include "assay/compare/explanation.hpp"
#include "assay/report/document.hpp"
#include "assay/report/exports/check.hpp"

namespace assay::report {

constexpr std::int64_t kComparisonVersion = 1;

/// Where a difference comes from, for one comparison.
struct Explained {
  std::vector<compare::PartDifference> phases;  ///< the largest first; empty where they were not timed
  std::vector<compare::PartDifference> layers;
};

/// Everything a report on comparisons shows.
struct ComparisonData {
  std::string a;  ///< the sides, as they were named
  std::string b;
  compare::Comparisons comparisons;
  std::vector<Explained> explained;  ///< one for each, or empty where nobody asked
  std::optional<double> gate;        ///< share from which a proved slow-down fails
  bool calibrated = false;           ///< the host's own noise is known
  std::string next_command;          ///< what would decide an open gate; empty: nothing to say

  /// Comparisons that fail the gate.
  std::int64_t failed() const;
  /// Comparisons of which the gate cannot say whether they fail.
  std::int64_t open() const;
};

/// A table, a sentence for each comparison, and what the gate says.
Document comparison_document(const ComparisonData& data);

/// The published document, docs/formats/comparison.schema.json.
json json_comparison(const ComparisonData& data);

/// One for each comparison. Without a gate any proved slow-down fails.
std::vector<Check> checks_of(const ComparisonData& data);

/// The smallest differences that a host lets one see, by method and number of runs.
Document noise_document(const compare::Calibration& calibration);
json json_calibration(const compare::Calibration& calibration);

}  // namespace assay::report
