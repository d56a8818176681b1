#pragma once

#include <cstdint>

namespace assay::platform {

/// A fixed piece of arithmetic of about two milliseconds. Its time tells how fast this host is right now, which the
/// usual counters of a shared host do not show.
class SpeedProbe {
 public:
  SpeedProbe();
  ~SpeedProbe();
  SpeedProbe(const SpeedProbe&) = delete;
  SpeedProbe& operator=(const SpeedProbe&) = delete;

  /// Runs the arithmetic once on the calling thread; nanoseconds it took.
  std::int64_t run();

 private:
  float* matrices_;
};

}  // namespace assay::platform
