#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay::report {

enum class CheckStatus {
  passed,
  failed,
  undecided,  ///< too little was measured to say
};

/// What a gate of continuous integration asked, and what came out.
struct Check {
  std::string group;  ///< what belongs together: a suite of JUnit, such as "assay history"
  std::string name;   ///< what was checked, such as a trial's title
  CheckStatus status = CheckStatus::undecided;
  std::string message;  ///< the outcome in a sentence; may have several lines
  std::string detail;   ///< for whoever looks into it; may have several lines or be empty
};

/// JUnit XML, UTF-8: a suite for each group in the order of their first check, an undecided check is a skipped test.
/// Whatever the checks hold, the document is well-formed: what XML 1.0 cannot write becomes \xNN.
std::string junit_report(const std::vector<Check>& checks);

/// A heading, counts and a table of GitHub's Markdown: failed checks first, then undecided ones. Text of the checks is
/// shown as it is and never taken for markup.
std::string markdown_report(const std::string& title, const std::vector<Check>& checks);

/// How many have this status.
std::int64_t count(const std::vector<Check>& checks, CheckStatus status);

}  // namespace assay::report

template <>
struct assay::EnumNames<assay::report::CheckStatus> {
  static constexpr std::array<const char*, 3> names{"passed", "failed", "undecided"};
};
