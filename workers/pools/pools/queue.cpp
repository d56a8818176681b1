#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "workers/pools/pool.hpp"

namespace assay::pools {
namespace {

/// As it is written first: one queue, one mutex, and two conditions to sleep on. The caller hands over and sleeps.
class QueuePool : public Pool {
 public:
  explicit QueuePool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
  }
  ~QueuePool() override {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    has_work_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  QueuePool(const QueuePool&) = delete;
  QueuePool& operator=(const QueuePool&) = delete;

  void run(Tasks& tasks) override {
    for (std::int64_t i = 0; i < tasks.count(); ++i) {
      {
        const std::lock_guard lock(mutex_);
        queue_.emplace_back([&tasks, i] { tasks.run(i); });
        ++unfinished_;
      }
      has_work_.notify_one();
    }
    std::unique_lock lock(mutex_);
    is_done_.wait(lock, [this] { return unfinished_ == 0; });
  }
  int threads() const override { return static_cast<int>(threads_.size()); }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      has_work_.wait(lock, [this] { return is_over_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const auto task = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      task();
      lock.lock();
      if (--unfinished_ == 0) is_done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable has_work_, is_done_;
  std::deque<std::function<void()>> queue_;
  std::int64_t unfinished_ = 0;
  bool is_over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Pool> make_queue_pool(int threads) {
  return std::make_unique<QueuePool>(threads);
}

}  // namespace assay::pools
