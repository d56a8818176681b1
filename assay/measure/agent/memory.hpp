#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "assay/measure/order.hpp"
#include "assay/store/run_queue.hpp"

namespace assay::measure {

/// Most memory that a run of a trial was seen to take, by the trial's id.
using KnownMemory = std::map<std::string, std::int64_t>;

/// Memory that one side of a lock-step group is expected to take.
struct MemoryNeed {
  std::string side;  ///< for a person
  std::int64_t bytes = 0;
  bool measured = false;  ///< in an earlier run; else it is for the weights alone, and more will be needed
};

/// In the order of the sides. Weights are 4 bytes each, and when training there are gradients and momenta too.
std::vector<MemoryNeed> memory_needs(const Order& order, const store::Lease& lease, const KnownMemory& known);

/// Throws Error{failure} that names the figures where all sides together do not fit in `available` bytes.
void check_fits(const std::vector<MemoryNeed>& needs, std::int64_t available);

/// Memory that programs started now can take: what is free on the host, within the limits of control groups.
std::int64_t available_memory_bytes();

}  // namespace assay::measure
