#pragma once

#include <string>
#include <vector>

#include "assay/tune/apply/launch.hpp"

namespace assay::tune {

/// The number of an instance, in its environment.
constexpr const char* kInstanceVariable = "ASSAY_INSTANCE";

/// Puts this process where the plan wants an instance and replaces it by the program. Returns only where that fails:
/// 127 where there is no such program, 126 where it cannot be started, as shells do, with a message on stderr.
[[nodiscard]] int become(const LaunchPlan& plan, const std::vector<std::string>& program, std::int64_t instance);

/// Starts every instance and waits for all. Signals that ask a program for something are passed on. Where an instance
/// fails, the others are ended, and this process ends as that instance did: with its code, or by the same signal.
/// Instances do not outlive this process, even where it is killed.
[[nodiscard]] int supervise(const LaunchPlan& plan, const std::vector<std::string>& program);

}  // namespace assay::tune
