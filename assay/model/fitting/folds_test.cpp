#include "assay/model/fitting/folds.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::model {
namespace {

/// A grid of batch 1, 2, 4, 8, 16 and threads 1, 2.
Table grid() {
  Table table{{{"batch", Role::extrinsic}, {"threads", Role::parallel}}, {}};
  for (const double batch : {1, 2, 4, 8, 16}) {
    for (const double threads : {1, 2}) table.rows.push_back({{batch, threads}, 1});
  }
  return table;
}

TEST(Folds, HoldOutTheLargestScales) {
  const auto folds = largest_held_out(grid());
  ASSERT_EQ(folds.size(), 2u);  // of batch the largest, and the two largest; of threads none, which has two levels
  EXPECT_EQ(folds[0].factor, "batch");
  EXPECT_EQ(folds[0].test.rows.size(), 2u);
  EXPECT_EQ(folds[1].test.rows.size(), 4u);
  for (const auto& row : folds[1].test.rows) EXPECT_GE(row.values[0], 8);
  for (const auto& row : folds[1].train.rows) EXPECT_LE(row.values[0], 4);
}

TEST(Folds, AtRandomHoldOutEachPointOnce) {
  std::size_t held = 0;
  for (const auto& fold : random_folds(grid(), 5, 1)) {
    held += fold.test.rows.size();
    EXPECT_EQ(fold.test.rows.size() + fold.train.rows.size(), 10u);
  }
  EXPECT_EQ(held, 10u);
}

TEST(Folds, KnowHowFarOutAPointLies) {
  const auto seen = bounds_of(grid());
  EXPECT_DOUBLE_EQ(doublings_beyond(seen, {4, 2}), 0);
  EXPECT_DOUBLE_EQ(doublings_beyond(seen, {64, 4}), 2);
  EXPECT_DOUBLE_EQ(doublings_beyond(seen, {0.5, 1}), 1);
}

}  // namespace
}  // namespace assay::model
