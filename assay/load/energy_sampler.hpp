#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "assay/platform/energy.hpp"

namespace assay::load {

/// Sums what counters say from its construction to finish(), in a thread of its own that reads them often enough for
/// none to wrap unseen.
class EnergySampler {
 public:
  explicit EnergySampler(std::vector<platform::EnergyCounter> counters);
  ~EnergySampler();
  EnergySampler(const EnergySampler&) = delete;
  EnergySampler& operator=(const EnergySampler&) = delete;

  /// Null where nothing counts. Call once.
  std::optional<Energy> finish();

 private:
  void run();
  void end();

  platform::EnergyWindows windows_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace assay::load
