#include "assay/predict/calibration/score.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

/// Two devices take 2 s with a range of 1.5 to 2.5, four take 3 s with one of 2.9 to 3.1; batch 8.
KeptPrediction kept_prediction() {
  KeptPrediction kept;
  kept.id = "one";
  kept.predicted_utc = "2026-01-02T00:00:00.000Z";
  kept.said.network = "net";
  kept.said.cluster = "c";
  kept.said.range = RangeKind::interval;
  for (const auto devices : {2, 4}) {
    ScalePoint point;
    point.devices = devices;
    point.batch = 8;
    point.step.seconds = devices == 2 ? 2 : 3;
    point.low_seconds = devices == 2 ? 1.5 : 2.9;
    point.high_seconds = devices == 2 ? 2.5 : 3.1;
    kept.said.points.push_back(point);
  }
  return kept;
}

StepTruth run_of(std::int64_t devices, double seconds, const char* utc = "2026-01-03T00:00:00.000Z") {
  StepTruth truth;
  truth.source = "run";
  truth.network = "net";
  truth.devices = devices;
  truth.batch = 8;
  truth.precision = "fp32";
  truth.options = {};
  truth.started_utc = utc;
  truth.seconds = seconds;
  return truth;
}

TEST(Score, IsOfLaterRunsAlone) {
  // Later: 2 devices with median 2.2 of three runs, error 2 / 2.2 - 1 = -1 / 11, inside; 4 devices 2.4, error 1 / 4,
  // outside. Before: 2 devices 1.0, shown, and not in mean (1/11 + 1/4) / 2.
  const auto score = score_predictions(
      {kept_prediction()},
      {run_of(2, 2.2), run_of(2, 2.1), run_of(2, 9), run_of(4, 2.4), run_of(2, 1.0, "2026-01-01T23:59:59.999Z")});
  ASSERT_EQ(score.points.size(), 3u);
  EXPECT_EQ(score.points[0].truth, TruthKind::later);
  EXPECT_EQ(score.points[0].runs, 3);
  EXPECT_NEAR(score.points[0].error, -1 / 11.0, 1e-12);
  EXPECT_THAT(score.points[0].inside, Optional(true));
  EXPECT_EQ(score.points[1].truth, TruthKind::known_before);
  EXPECT_THAT(score.points[2].inside, Optional(false));
  EXPECT_EQ(score.counted, 2);
  EXPECT_THAT(score.mean_error, Optional(DoubleNear((1 / 11.0 + 0.25) / 2, 1e-12)));
  EXPECT_THAT(score.median_error, Optional(DoubleNear((1 / 11.0 + 0.25) / 2, 1e-12)));
  EXPECT_THAT(score.worst_error, Optional(DoubleNear(0.25, 1e-12)));
  ASSERT_EQ(score.coverage.size(), 1u);
  EXPECT_EQ(score.coverage[0].points, 2);
  EXPECT_EQ(score.coverage[0].inside, 1);
  EXPECT_TRUE(score.unmatched.empty());
}

TEST(Score, JoinsOnlyWhatIsTheSameJob) {
  auto other_batch = run_of(2, 2);
  other_batch.batch = 16;
  auto other_precision = run_of(2, 2);
  other_precision.precision = "bf16";
  auto other_options = run_of(2, 2);
  other_options.options = {{"image", Scalar(std::int64_t{32})}};
  auto other_network = run_of(2, 2);
  other_network.network = "other";
  auto other_cluster = run_of(2, 2);
  other_cluster.cluster = "d";
  const auto score = score_predictions(
      {kept_prediction()}, {other_batch, other_precision, other_options, other_network, other_cluster, run_of(8, 2)});
  EXPECT_TRUE(score.points.empty());
  EXPECT_FALSE(score.mean_error);
  ASSERT_EQ(score.unmatched.size(), 1u);
  EXPECT_THAT(score.unmatched[0].devices, ElementsAre(2, 4));
}

TEST(Score, TakesStepsOfSeveralBatchesFromTablesAlone) {
  auto kept = kept_prediction();
  kept.said.practice.accumulation = 4;
  // A run of ours has one batch a step. 32 samples a second: 8 x 4 x 2 = 64 samples take 2 s, as predicted.
  const auto truths = parse_truths("network,devices,samples_per_second\nnet,2,32\n", "t.csv", {});
  const auto score = score_predictions({kept}, {run_of(2, 2), truths[0]});
  ASSERT_EQ(score.points.size(), 1u);
  EXPECT_EQ(score.points[0].truth, TruthKind::published);
  EXPECT_NEAR(score.points[0].error, 0, 1e-12);
}

TEST(Truths, AreReadByTheNamesOfColumns) {
  const auto truths =
      parse_truths("method,cluster,batch_per_device,devices,network,seconds\nx,c,8,2,net,1.5\ny,c,8,4,net,2\n", "t.csv",
                   {{"method", "y"}});
  ASSERT_EQ(truths.size(), 1u);
  EXPECT_EQ(truths[0].devices, 4);
  EXPECT_THAT(truths[0].batch, Optional(8));
  EXPECT_THAT(truths[0].cluster, Optional(std::string("c")));
  EXPECT_THAT(truths[0].seconds, Optional(2.0));
  EXPECT_THAT(truths[0].source, HasSubstr("t.csv row 2"));
}

std::string refusal_of_truths(const char* csv) {
  try {
    static_cast<void>(parse_truths(csv, "t.csv", {}));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Truths, AreRefusedWithTheRow) {
  EXPECT_THAT(refusal_of_truths("network,devices\nnet,2\n"), HasSubstr("there is no column seconds"));
  EXPECT_THAT(refusal_of_truths("network,devices,seconds\nnet,2,1\nnet,2.5,1\n"), HasSubstr("row 2: devices is '2.5'"));
  EXPECT_THAT(refusal_of_truths("network,devices,seconds\nnet,2,0\n"), HasSubstr("seconds is 0"));
  EXPECT_THAT(refusal_of_truths("network,devices,seconds\nnet,2,-1\n"), HasSubstr("'-1' is not a number"));
  EXPECT_THAT(refusal_of_truths("network,devices,seconds\n"), HasSubstr("it has no rows"));
}

}  // namespace
}  // namespace assay::predict
