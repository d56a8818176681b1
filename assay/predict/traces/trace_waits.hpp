#pragma once

#include <unordered_map>

#include "assay/predict/traces/trace_window.hpp"

namespace assay::predict {

/// From `from_ns` until `until_ns` the host waited for a work of the device.
struct HostWait {
  std::int64_t from_ns = 0;
  std::int64_t until_ns = 0;
  std::size_t work = 0;  ///< of the window
};

/// Who waits for whom by events and synchronisations in a window.
class TraceWaits {
 public:
  explicit TraceWaits(const TraceWindow& window);

  const std::vector<HostWait>& of_host() const { return of_host_; }

  /// Works of other streams that a work waits for by an event.
  const std::vector<std::size_t>& of_work(std::size_t index) const;

 private:
  void find_events_by_marks();
  void find_events_by_order();
  void find_host_waits();
  std::optional<std::size_t> last_ended(const RuntimeCall& call, std::optional<std::int64_t> queue) const;

  const TraceWindow& window_;
  std::vector<HostWait> of_host_;
  std::unordered_map<std::size_t, std::vector<std::size_t>> of_work_;
  std::vector<std::size_t> by_launch_;  // works whose launch is known, in that order
  std::vector<std::size_t> by_end_;
};

}  // namespace assay::predict
