#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/results/evidence.hpp"

namespace assay::report {
namespace {

using predict::RangeKind;
using predict::TruthKind;
using testing::ElementsAre;
using testing::HasSubstr;

/// 2 ms with a range of 1.5 to 2.5 ms, beside what was measured.
predict::ScoredPoint scored_on(std::int64_t devices, double measured_ms, TruthKind truth = TruthKind::later) {
  predict::ScoredPoint point;
  point.network = "net";
  point.cluster = "four";
  point.range = RangeKind::interval;
  point.devices = devices;
  point.batch = 8;
  point.predicted_seconds = 2e-3;
  point.low_seconds = 1.5e-3;
  point.high_seconds = 2.5e-3;
  point.measured_seconds = 1e-3 * measured_ms;
  point.error = point.predicted_seconds / point.measured_seconds - 1;
  point.truth = truth;
  point.source = "a run";
  return point;
}

/// Two points count: 2.4 ms on one device, inside and 1/6 off; 4 ms on two, outside and half off. One was known before.
Evidence scored_evidence() {
  predict::PredictionScore score;
  score.points = {scored_on(1, 2.4), scored_on(1, 1.9, TruthKind::known_before), scored_on(2, 4)};
  score.counted = 2;
  score.median_error = 1.0 / 3;
  score.worst_error = 0.5;
  score.coverage = {{RangeKind::interval, 2, 1}};
  Evidence evidence;
  evidence.store = "assay.db";
  evidence.scores = {score};
  return evidence;
}

TEST(ScoresPicture, HasWhatWasPredictedWithItsRangeBesideWhatWasMeasured) {
  const auto pictures = scores_pictures(scored_evidence());
  ASSERT_EQ(pictures.size(), 1u);
  const auto& picture = pictures[0];
  EXPECT_THAT(picture.x.categories, ElementsAre("1", "2"));
  ASSERT_EQ(picture.series.size(), 3u);
  const auto& said = picture.series[0].marks;
  ASSERT_EQ(said.size(), 2u);  // once, though two truths stand beside the first
  EXPECT_NEAR(said[0].y, 2, 1e-9);
  EXPECT_NEAR(*said[0].low, 1.5, 1e-9);
  EXPECT_NEAR(*said[0].high, 2.5, 1e-9);
  const auto& later = picture.series[1].marks;
  ASSERT_EQ(later.size(), 2u);
  EXPECT_NEAR(later[0].y, 2.4, 1e-9);
  EXPECT_EQ(later[1].x, 1);
  EXPECT_NEAR(later[1].y, 4, 1e-9);
  EXPECT_THAT(later[1].note, HasSubstr("predicted -50.0 %"));
  EXPECT_THAT(picture.series[2].name, HasSubstr("does not count"));
  EXPECT_NEAR(picture.series[2].marks.at(0).y, 1.9, 1e-9);
  EXPECT_EQ(
      picture.answer,
      "1 of 2 points measured later are within their 90 % intervals. Predictions are typically 33 % off, at worst "
      "50 %.");
  EXPECT_EQ(picture.command, "assay predict --score net");
}

TEST(ScoresPicture, ClaimsNothingWhereNothingCounts) {
  auto evidence = scored_evidence();
  auto& score = evidence.scores[0];
  score.points = {scored_on(1, 1.9, TruthKind::known_before)};
  score.counted = 0;
  score.median_error = score.worst_error = std::nullopt;
  score.coverage.clear();
  const auto pictures = scores_pictures(evidence);
  ASSERT_EQ(pictures.size(), 1u);
  EXPECT_THAT(pictures[0].answer, HasSubstr("does not count"));
  ASSERT_EQ(pictures[0].series.size(), 2u);
}

TEST(ScoresPicture, NamesTheBatchWhereItChangesAndHasNoWhiskersWithoutARange) {
  auto evidence = scored_evidence();
  for (auto& point : evidence.scores[0].points) {
    point.range = RangeKind::none;
    point.batch = 8 / point.devices;
  }
  const auto pictures = scores_pictures(evidence);
  ASSERT_EQ(pictures.size(), 1u);
  EXPECT_THAT(pictures[0].x.categories, ElementsAre("1, batch 8", "2, batch 4"));
  EXPECT_FALSE(pictures[0].series[0].marks[0].low);
}

TEST(ScoresPicture, LeavesOutTimesOfZero) {
  auto evidence = scored_evidence();
  for (auto& point : evidence.scores[0].points) point.measured_seconds = 0;
  EXPECT_TRUE(scores_pictures(evidence).empty());
}

}  // namespace
}  // namespace assay::report
