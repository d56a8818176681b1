// Passes over memory. Arrays are first touched by the threads that use them, so that each has its part nearby.
#include <memory>

#include "workers/onednn/call.hpp"

namespace assay::onednn {
namespace {

class Arrays : public Operation {
 public:
  /// Whole numbers that are exact in any precision.
  explicit Arrays(std::int64_t elements)
      : elements_(elements), a_(allocate(elements)), b_(allocate(elements)), c_(allocate(elements)) {
    float* const a = a_.get();
    float* const b = b_.get();
    float* const c = c_.get();
#pragma omp parallel for simd schedule(static)
    for (std::int64_t i = 0; i < elements; ++i) {
      a[i] = 0;
      b[i] = static_cast<float>(i % 61);
      c[i] = static_cast<float>(i % 7);
    }
  }

  std::vector<float> result() const override {
    return {a_.get(), a_.get() + elements_};
  }

 protected:
  static std::unique_ptr<float[]> allocate(std::int64_t elements) {
    return std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(elements));
  }

  std::int64_t elements_;
  std::unique_ptr<float[]> a_, b_, c_;
};

class Copy : public Arrays {
 public:
  using Arrays::Arrays;
  void run() override {
    float* const a = a_.get();
    const float* const b = b_.get();
#pragma omp parallel for simd schedule(static)
    for (std::int64_t i = 0; i < elements_; ++i) a[i] = b[i];
  }
};

class Triad : public Arrays {
 public:
  using Arrays::Arrays;
  void run() override {
    float* const a = a_.get();
    const float* const b = b_.get();
    const float* const c = c_.get();
#pragma omp parallel for simd schedule(static)
    for (std::int64_t i = 0; i < elements_; ++i) a[i] = b[i] + 3 * c[i];
  }
};

}  // namespace

std::unique_ptr<Operation> make_copy(Workshop& workshop) {
  return std::make_unique<Copy>(workshop.size("elements"));
}

std::unique_ptr<Operation> make_triad(Workshop& workshop) {
  return std::make_unique<Triad>(workshop.size("elements"));
}

}  // namespace assay::onednn
