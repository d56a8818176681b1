#include <thread>

#include "workers/pools/pool.hpp"

namespace assay::pools {
namespace {

/// Not a pool: what pools save. The next thread begins where the oldest of so many has ended.
class SpawnPool : public Pool {
 public:
  explicit SpawnPool(int threads) : threads_(static_cast<std::size_t>(threads)) {}

  void run(Tasks& tasks) override {
    std::size_t next = 0;
    for (std::int64_t i = 0; i < tasks.count(); ++i) {
      auto& thread = threads_[next];
      if (thread.joinable()) thread.join();
      thread = std::thread([&tasks, i] { tasks.run(i); });
      next = (next + 1) % threads_.size();
    }
    for (auto& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  int threads() const override { return static_cast<int>(threads_.size()); }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Pool> make_spawn_pool(int threads) {
  return std::make_unique<SpawnPool>(threads);
}

}  // namespace assay::pools
