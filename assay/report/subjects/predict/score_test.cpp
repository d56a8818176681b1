#include "assay/report/subjects/predict/score.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/document_fixture.hpp"

namespace assay::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;

/// 110 ms predicted (100 to 120) where 100 were measured: 10 % too much, and at the edge of its range.
predict::ScoredPoint scored_point(predict::TruthKind truth) {
  predict::ScoredPoint point;
  point.prediction = "0a1b2c3d";
  point.network = "toy";
  point.cluster = "two";
  point.range = predict::RangeKind::what_if;
  point.devices = 2;
  point.batch = 8;
  point.predicted_seconds = 0.11;
  point.low_seconds = 0.1;
  point.high_seconds = 0.12;
  point.measured_seconds = 0.1;
  point.runs = 3;
  point.error = 0.1;
  point.inside = true;
  point.truth = truth;
  point.source = "campaign c";
  return point;
}

TEST(PredictionScore, APointStandsBesideWhatWasMeasured) {
  predict::PredictionScore score;
  score.points = {scored_point(predict::TruthKind::later)};
  score.counted = 1;
  score.mean_error = score.median_error = score.worst_error = 0.1;
  score.coverage = {{predict::RangeKind::what_if, 4, 3}};
  const auto document = prediction_score_document(score);
  EXPECT_THAT(tables_of(document).at(0).rows(),
              ElementsAre(ElementsAre("0a1b2c3d", "toy", "two", "2", "8", "110 ms", "100 ms to 120 ms", "100 ms",
                                      "+10.0 %", "yes", "later, 3 runs", "campaign c")));
  EXPECT_THAT(paragraphs_of(document), ElementsAre("Error of 1 point: mean 10.0 %, median 10.0 %, worst 10.0 %",
                                                   "3 of 4 what-if ranges hold what was measured (75 %)"));
}

TEST(PredictionScore, WhatWasKnownBeforeDoesNotCount) {
  predict::PredictionScore score;
  score.points = {scored_point(predict::TruthKind::known_before)};
  EXPECT_THAT(paragraphs_of(prediction_score_document(score)),
              ElementsAre("No point counts: nothing was measured after it was predicted, and no table was given "
                          "(--published).",
                          "What was known before a prediction was made is shown and does not count."));
}

TEST(PredictionScore, PredictionsThatNobodyMeasuredAreListed) {
  predict::PredictionScore score;
  score.unmatched = {{"0a1b2c3d", "toy", "two", {1, 2}, {8, 4}}};
  const auto document = prediction_score_document(score);
  EXPECT_THAT(tables_of(document), IsEmpty());
  EXPECT_THAT(items_of(document), ElementsAre("0a1b2c3d  toy on two, 1, 2 devices, batch 8, 4 of each"));
  EXPECT_THAT(paragraphs_of(document), IsSupersetOf({"Nothing was measured of:",
                                                     "A point is joined with training of the same network, options, "
                                                     "precision and batch, ranks for devices."}));
}

}  // namespace
}  // namespace assay::report
