#include "assay/compare/part_times.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::compare {
namespace {

store::RunRow paired(PairSide side, std::int64_t step, std::int64_t first) {
  store::RunRow row;
  row.pair = Pair{"g", side};
  row.summary.median_ns = step;
  row.summary.generated.emplace().first_token_ns = first;
  row.digest.pair_log_ratio = 0.5;
  return row;
}

TEST(PartTimes, TheFirstTokenStandsForTheStepAndItsRatioForThatOfTheGroup) {
  std::vector<store::RunRow> rows{paired(PairSide::b, 1000, 300), paired(PairSide::a, 900, 100), store::RunRow{}};
  rows[2].summary.median_ns = 5;
  take_times_of(TimeOf::first_token, rows);
  EXPECT_EQ(rows[0].summary.median_ns, 300);
  EXPECT_NEAR(*rows[0].digest.pair_log_ratio, std::log(3.0), 1e-12);
  EXPECT_FALSE(rows[1].digest.pair_log_ratio);
  EXPECT_FALSE(rows[2].summary.median_ns);  // it generates nothing
}

TEST(PartTimes, OfTheWholeStepNothingChanges) {
  std::vector<store::RunRow> rows{paired(PairSide::b, 1000, 300)};
  take_times_of(TimeOf::step, rows);
  EXPECT_EQ(rows[0].summary.median_ns, 1000);
  EXPECT_EQ(rows[0].digest.pair_log_ratio, 0.5);
}

}  // namespace
}  // namespace assay::compare
