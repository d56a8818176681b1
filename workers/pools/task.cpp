#include "workers/pools/task.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace assay::pools {
namespace {

/// Steps of a generator of period 2^32 (Numerical Recipes): as often as it ran, so far it came.
std::uint32_t worked(std::uint32_t value, std::int64_t work) {
  for (std::int64_t i = 0; i < work; ++i) value = value * 1664525U + 1013904223U;
  return value + 1;
}

}  // namespace

Tasks::Tasks(std::int64_t count, std::int64_t work) : work_(work), slots_(static_cast<std::size_t>(count)) {
  for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].value = static_cast<std::uint32_t>(i);
}

void Tasks::run(std::int64_t number) {
  auto& slot = slots_[static_cast<std::size_t>(number)];
  slot.value = worked(slot.value, work_);
}

void Tasks::check(std::int64_t times) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    auto wanted = static_cast<std::uint32_t>(i);
    for (std::int64_t time = 0; time < times; ++time) wanted = worked(wanted, work_);
    if (slots_[i].value == wanted) continue;
    throw std::runtime_error(fmt::format("task {} of {} did not run exactly {} times", i, slots_.size(), times));
  }
}

}  // namespace assay::pools
