#include "assay/compare/part_times.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "assay/core/workloads/learning.hpp"

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

store::RunRow learnt(bool reached, std::int64_t ns) {
  store::RunRow row;
  row.outcome = OutcomeKind::ok;
  row.counted = true;
  row.summary.median_ns = 7;
  Learned learned;
  learned.reached = reached;
  learned.ns = ns;
  row.digest.effective[kLearned] = {to_json(learned)};
  return row;
}

TEST(PartTimes, TheTimeToAnAccuracyStandsForTheStep) {
  Material material;
  material.rows = {learnt(true, 500), store::RunRow{}, learnt(false, 900)};
  material.rows[1].summary.median_ns = 5;
  take_times_to_accuracy(material);
  EXPECT_TRUE(material.to_accuracy);
  EXPECT_EQ(material.rows[0].summary.median_ns, 500);
  EXPECT_FALSE(material.rows[1].summary.median_ns);  // it learns nothing
  EXPECT_FALSE(material.rows[2].summary.median_ns);  // longer than 900, and how long is not known
}

}  // namespace
}  // namespace assay::compare
