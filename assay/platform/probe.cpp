#include "assay/platform/probe.hpp"

#include <cstdlib>

#include "assay/core/clock.hpp"
#include "assay/core/error.hpp"

namespace assay::platform {
namespace {

// 192 x 192 floats are 144 KiB: three of them sit in the second-level cache, so the probe sees core speed and cache
// neighbours but not the memory traffic of the worker.
constexpr int kSize = 192;
constexpr int kRepeats = 6;
constexpr std::size_t kCells = static_cast<std::size_t>(kSize) * kSize;

/// c += a b, four rows at a time so that each load of b feeds four sums.
#if defined(__x86_64__) && !defined(__clang__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void multiply(const float* __restrict a, const float* __restrict b, float* __restrict c) {
  for (int i = 0; i < kSize; i += 4) {
    float* c0 = c + static_cast<std::size_t>(i) * kSize;
    float* c1 = c0 + kSize;
    float* c2 = c1 + kSize;
    float* c3 = c2 + kSize;
    for (int k = 0; k < kSize; ++k) {
      const float* row = b + static_cast<std::size_t>(k) * kSize;
      const float* column = a + static_cast<std::size_t>(i) * kSize + k;
      const float a0 = column[0];
      const float a1 = column[kSize];
      const float a2 = column[std::size_t{2} * kSize];
      const float a3 = column[std::size_t{3} * kSize];
      for (int j = 0; j < kSize; ++j) {
        c0[j] += a0 * row[j];
        c1[j] += a1 * row[j];
        c2[j] += a2 * row[j];
        c3[j] += a3 * row[j];
      }
    }
  }
}

}  // namespace

SpeedProbe::SpeedProbe() : matrices_(static_cast<float*>(std::aligned_alloc(64, 3 * kCells * sizeof(float)))) {
  ASSAY_CHECK(matrices_ != nullptr);
  for (std::size_t i = 0; i < 3 * kCells; ++i) matrices_[i] = static_cast<float>(i % 7) * 0.01F;
}

SpeedProbe::~SpeedProbe() {
  std::free(matrices_);
}

std::int64_t SpeedProbe::run() {
  const std::int64_t begin = monotonic_ns();
  for (int i = 0; i < kRepeats; ++i) multiply(matrices_, matrices_ + kCells, matrices_ + 2 * kCells);
  return monotonic_ns() - begin;
}

}  // namespace assay::platform
