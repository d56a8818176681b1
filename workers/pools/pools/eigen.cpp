#define EIGEN_USE_THREADS
#include <fmt/format.h>

#include <unsupported/Eigen/CXX11/ThreadPool>

#include "workers/pools/pool.hpp"

namespace assay::pools {
namespace {

/// The caller hands over and sleeps; where the queue of a thread is full, Eigen lets the caller run the task.
class EigenPool : public Pool {
 public:
  explicit EigenPool(int threads) : pool_(threads) {}

  void run(Tasks& tasks) override {
    Eigen::Barrier barrier(static_cast<unsigned>(tasks.count()));
    for (std::int64_t i = 0; i < tasks.count(); ++i) {
      pool_.Schedule([&tasks, &barrier, i] {
        tasks.run(i);
        barrier.Notify();
      });
    }
    barrier.Wait();
  }
  int threads() const override { return pool_.NumThreads(); }
  std::string release() const override {
    return fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
  }

 private:
  Eigen::ThreadPool pool_;
};

}  // namespace

std::unique_ptr<Pool> make_eigen_pool(int threads) {
  return std::make_unique<EigenPool>(threads);
}

}  // namespace assay::pools
