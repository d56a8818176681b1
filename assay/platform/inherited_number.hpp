#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace assay::platform {

/// Gives this process, and all that it starts from now on, a number that /proc shows. A process keeps it with another
/// program, environment and session, and when its parents are gone: it is the soft limit on file locks, which Linux has
/// held nobody to since 2.4.25. False where the hard limit is lower, or there is none.
bool set_inherited_number(std::int64_t number);

struct NumberedProcess {
  pid_t pid = 0;
  std::string name;  ///< fit for a terminal
  std::int64_t number = 0;
};

/// Processes that have such a number and have not ended, this process not included.
std::vector<NumberedProcess> numbered_processes();

}  // namespace assay::platform
