#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::pools {

/// Tasks that are numbered from 0 on. Each takes a number of its own through `work` multiplications and additions that
/// wait for each other; the numbers say in the end how often each task has run.
class Tasks {
 public:
  Tasks(std::int64_t count, std::int64_t work);

  std::int64_t count() const { return static_cast<std::int64_t>(slots_.size()); }
  void run(std::int64_t number);

  /// Whether every task has run so often, and none more. Throws std::runtime_error that names the first that has not.
  void check(std::int64_t times) const;

 private:
  /// A cache line each, so that tasks do not wait for the lines of others.
  struct alignas(64) Slot {
    std::uint32_t value = 0;
  };

  std::int64_t work_;
  std::vector<Slot> slots_;
};

}  // namespace assay::pools
