#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/version.h>

#include "workers/pools/pool.hpp"

namespace assay::pools {
namespace {

/// The caller hands over, then runs tasks too: it is one of the threads.
class TbbPool : public Pool {
 public:
  explicit TbbPool(int threads)
      : most_(oneapi::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena_(threads) {}

  void run(Tasks& tasks) override {
    arena_.execute([&tasks] {
      oneapi::tbb::task_group group;
      for (std::int64_t i = 0; i < tasks.count(); ++i) group.run([&tasks, i] { tasks.run(i); });
      group.wait();
    });
  }
  int threads() const override { return arena_.max_concurrency(); }
  std::string release() const override { return TBB_runtime_version(); }

 private:
  oneapi::tbb::global_control most_;
  oneapi::tbb::task_arena arena_;
};

}  // namespace

std::unique_ptr<Pool> make_tbb_pool(int threads) {
  return std::make_unique<TbbPool>(threads);
}

}  // namespace assay::pools
