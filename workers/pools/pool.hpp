#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workers/pools/task.hpp"

namespace assay::pools {

/// Threads that tasks are handed to.
class Pool {
 public:
  virtual ~Pool() = default;
  /// Hands over every task by itself, in order; returns when all have run.
  virtual void run(Tasks& tasks) = 0;
  /// That run tasks, as the pool says.
  virtual int threads() const = 0;
  /// Release of what it is made of; empty where that is the standard library.
  virtual std::string release() const { return ""; }
};

/// Names that TASK_POOL takes.
std::vector<std::string> pool_names();

/// Throws worker::Refused where there is no pool of that name.
std::unique_ptr<Pool> make_pool(const std::string& name, int threads);

std::unique_ptr<Pool> make_eigen_pool(int threads);
std::unique_ptr<Pool> make_openmp_pool(int threads);
/// std::threads that take tasks from one queue, guarded by a mutex.
std::unique_ptr<Pool> make_queue_pool(int threads);
/// A new std::thread for each task, so many at once.
std::unique_ptr<Pool> make_spawn_pool(int threads);
std::unique_ptr<Pool> make_tbb_pool(int threads);

}  // namespace assay::pools
