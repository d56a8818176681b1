#pragma once

#include <cstdint>
#include <optional>
#include <regex>
#include <string>

namespace assay::command {

/// Finds a program's own time in what it printed.
class NumberFinder {
 public:
  /// `pattern` is an ECMAScript regular expression with one group, `unit` one of ns, us, ms, s.
  /// Throws Refused where the pattern is malformed, longer than 200 bytes or has not exactly one group.
  NumberFinder(const std::string& pattern, const std::string& unit);

  /// The number of the first match in the last line that has one, in nanoseconds; null where no line matches or the
  /// group is no number from 0 to about 292 years. Lines are searched in their first 4 KiB.
  std::optional<std::int64_t> find(const std::string& output) const;

 private:
  std::regex pattern_;
  double unit_ns_ = 1e9;
};

}  // namespace assay::command
