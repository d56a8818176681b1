#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/measure/order.hpp"
#include "assay/measure/rank/meter.hpp"
#include "assay/platform/energy.hpp"

namespace assay::measure {

/// The energy of this host in the windows in which a worker is timed: by the user's meter where one is named, else by
/// the counters of the machine, those of its GPUs only where the trial uses one.
class HostEnergy {
 public:
  HostEnergy(const Order& order, const Part& part);

  void begin();
  void end();

  std::optional<Energy> total() const { return windows_ ? windows_->total() : std::nullopt; }
  /// Why a meter that was asked for told nothing.
  std::optional<std::string> problem() const { return meter_ ? meter_->problem() : std::nullopt; }
  /// Of the meter's process, which is not the worker's; null where there is none.
  std::optional<pid_t> meter_pid() const;

 private:
  std::optional<Meter> meter_;
  std::optional<platform::EnergyWindows> windows_;  ///< null where nothing counts
};

/// The worker and what it started: descendants of this process, which starts nothing else but a meter.
std::vector<pid_t> worker_tree(const std::optional<HostEnergy>& energy);

/// One process of each host is the first: it tells for all.
bool is_first_on_host(std::int64_t rank, std::int64_t instance);

}  // namespace assay::measure
