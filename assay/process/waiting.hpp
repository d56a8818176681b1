#pragma once

#include <poll.h>

#include <cstdint>
#include <vector>

namespace assay::process {

/// Time, and waiting for descriptors: what tests replace so that nobody has to wait.
class Waiting {
 public:
  virtual ~Waiting() = default;
  virtual std::int64_t now_ns() = 0;
  /// Until one of `fds` is ready, which its revents then say, or `patience_ns` have passed; how many are ready.
  virtual int poll(std::vector<pollfd>& fds, std::int64_t patience_ns) = 0;
};

/// By the monotonic clock and the kernel.
Waiting& real_waiting();

}  // namespace assay::process
