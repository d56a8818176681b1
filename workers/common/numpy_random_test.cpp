#include "workers/common/numpy_random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace assay::worker {
namespace {

/// The first numbers, in units of 2^-24.
std::vector<int> first(const char* seed, int count) {
  NumpyRandom random(seed);
  std::vector<int> found;
  for (int i = 0; i < count; ++i) found.push_back(static_cast<int>(random.unit() * 0x1p24F));
  return found;
}

// numpy 2.2 and 1.23: (numpy.random.default_rng(SEED).random(6, dtype="float32") * 2**24).astype(int)
TEST(NumpyRandom, DrawsWhatNumpyDraws) {
  using testing::ElementsAre;
  EXPECT_THAT(first("00000000000000000000000000000000", 6),
              ElementsAre(14271106, 10686443, 8575447, 4526269, 5164520, 687421));
  EXPECT_THAT(first("00000000000000000000000000000001", 6),
              ElementsAre(7938788, 8586941, 12669608, 15946134, 584728, 2418596));
  EXPECT_THAT(first("80000000000000000000000000000005", 6),
              ElementsAre(11669433, 13585585, 10945992, 15356203, 13473329, 9589103));
  EXPECT_THAT(first("b8e312f057ca3030ae8436dcab606e39", 6),
              ElementsAre(7178338, 16352827, 12639113, 12116680, 14336087, 12453575));
}

}  // namespace
}  // namespace assay::worker
