#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/report/results/evidence.hpp"

namespace assay::report {

/// Results that differ in the runtime alone, by runtime ("onnxruntime 1.31.1").
using Contest = std::map<std::string, const Result*>;

/// "onnxruntime 1.31.1".
std::string runtime_of(const Trial& trial);

/// How a runtime stands to the fastest of its contest, by lock-step groups.
struct GroupStanding {
  double ratio = 1;  ///< of time
  std::optional<stats::Interval> interval;
  bool longer = false;      ///< it is proved to take longer than the fastest
  std::int64_t groups = 0;  ///< that hold both
};

/// What lock-step groups say of a contest; no standings where it was not measured in groups.
struct GroupVerdict {
  std::string fastest;
  std::map<std::string, GroupStanding> standings;  ///< by runtime
};

/// For each contest, from runs of lock-step campaigns: ratios within groups, which met the same host, and verdicts on
/// every two runtimes. All contests of the same runtimes have one error rate together.
std::vector<GroupVerdict> group_verdicts(const Evidence& evidence, const std::vector<Contest>& contests);

}  // namespace assay::report
