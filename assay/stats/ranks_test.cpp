#include "assay/stats/ranks.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace assay::stats {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Of the 20 ways to choose 3 of 6 ranks one has the largest sum: 2 / 20.
TEST(Ranks, SidesApartAreTheRarestOfAllWays) {
  const auto found = by_ranks({1, 2, 3}, {4, 5, 6});
  EXPECT_DOUBLE_EQ(found->p, 0.1);
  EXPECT_DOUBLE_EQ(found->b_above_a, 1);
  EXPECT_DOUBLE_EQ(by_ranks({4, 5, 6}, {1, 2, 3})->b_above_a, 0);
}

// All of b share the highest ranks, so only one of the C(12, 6) = 924 ways gives them all to b.
TEST(Ranks, ASideThatNeverEndsIsProvedBySixRuns) {
  const auto found = by_ranks({1, 2, 3, 4, 5, 6}, std::vector<double>(6, kNever));
  EXPECT_DOUBLE_EQ(found->p, 2.0 / 924);
  EXPECT_DOUBLE_EQ(found->b_above_a, 1);
}

// Ranks of {1, never} and {never, never} are 1, 3, 3, 3: b has 6 in 3 of 6 ways, which is its larger tail; twice 1/2.
TEST(Ranks, EqualValuesShareTheirRanks) {
  const auto found = by_ranks({1, kNever}, {kNever, kNever});
  EXPECT_DOUBLE_EQ(found->p, 1);
  EXPECT_DOUBLE_EQ(found->b_above_a, 0.75);  // two pairs of four are above, two are equal
}

TEST(Ranks, WhereNothingEndsNothingDiffers) {
  const auto found = by_ranks(std::vector<double>(6, kNever), std::vector<double>(7, kNever));
  EXPECT_DOUBLE_EQ(found->p, 1);
  EXPECT_DOUBLE_EQ(found->b_above_a, 0.5);
  EXPECT_DOUBLE_EQ(by_ranks(std::vector<double>(60, kNever), std::vector<double>(60, kNever))->p, 1);
  EXPECT_FALSE(by_ranks({}, {1}));
}

}  // namespace
}  // namespace assay::stats
