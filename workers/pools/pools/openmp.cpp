#include <omp.h>

#include "workers/pools/pool.hpp"

namespace assay::pools {
namespace {

/// One thread of the team hands over; the others, and in the end it too, run tasks.
class OpenMpPool : public Pool {
 public:
  explicit OpenMpPool(int threads) : asked_(threads), threads_(threads) {}

  void run(Tasks& tasks) override {
    const std::int64_t count = tasks.count();
#pragma omp parallel num_threads(asked_)
#pragma omp single
    {
      threads_ = omp_get_num_threads();
      for (std::int64_t i = 0; i < count; ++i) {
#pragma omp task firstprivate(i) shared(tasks)
        tasks.run(i);
      }
    }
  }
  int threads() const override {
    return threads_;
  }
  std::string release() const override {
    return std::to_string(_OPENMP);
  }

 private:
  int asked_;
  int threads_;
};

}  // namespace

std::unique_ptr<Pool> make_openmp_pool(int threads) {
  return std::make_unique<OpenMpPool>(threads);
}

}  // namespace assay::pools
