#include "assay/stats/looks.hpp"

#include <gtest/gtest.h>

#include "assay/stats/interval.hpp"

namespace assay::stats {
namespace {

using Looks = std::vector<std::int64_t>;

TEST(Looks, AreSetBeforehandAndEndAtTheMost) {
  EXPECT_EQ(looks(20), (Looks{8, 12, 20}));
  EXPECT_EQ(looks(8), (Looks{8}));
  EXPECT_EQ(looks(10), (Looks{8, 10}));
  EXPECT_EQ(looks(40), (Looks{8, 12, 20, 40}));
}

TEST(Looks, ShareTheErrorBetweenThem) {
  EXPECT_DOUBLE_EQ(look_confidence(8), 0.95);
  EXPECT_DOUBLE_EQ(look_confidence(20), 1 - 0.05 / 3);
}

// With .05/3 no interval exists below 7 processes: 2 * 2^-n <= .05/3 needs n >= 7.
TEST(Looks, AllHaveAnInterval) {
  EXPECT_EQ(median_interval_rank(6, look_confidence(20)), 0U);
  EXPECT_EQ(median_interval_rank(7, look_confidence(20)), 1U);
  for (const auto look : looks(10'000)) {
    EXPECT_GE(median_interval_rank(static_cast<std::size_t>(look), look_confidence(10'000)), 1U);
  }
}

}  // namespace
}  // namespace assay::stats
