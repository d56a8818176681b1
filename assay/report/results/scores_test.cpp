#include "assay/report/results/scores.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::report {
namespace {

using testing::HasSubstr;

Trial trained_on(std::int64_t ranks) {
  Trial trial;
  trial.workload.network = "net";
  trial.workload.mode = Mode::train;
  trial.workload.batch = 8;
  trial.workload.precision = "fp32";
  trial.placement.ranks = ranks;
  return trial;
}

store::RunRow training_run(const std::string& trial, std::int64_t median_ns) {
  store::RunRow row;
  row.trial = trial;
  row.platform = "0123456789ab";
  row.started_utc = "2026-01-03T00:00:00.000Z";
  row.summary.median_ns = median_ns;
  return row;
}

/// A prediction of 2 ms on one device, as a store keeps it.
store::Artifact prediction_of(const std::string& hash, std::int64_t devices) {
  predict::ScalingPrediction said;
  said.network = "net";
  predict::ScalePoint point;
  point.devices = devices;
  point.batch = 8;
  point.step.seconds = 2e-3;
  said.points.push_back(point);
  return {kPredictionKind, hash, "2026-01-02T00:00:00.000Z", to_json(said)};
}

TEST(Scores, ATruthIsARunOfTrainingThatEndedWellAndWasNotDisturbed) {
  std::vector<store::TrialRow> trials{{"two", trained_on(2)}, {"infer", trained_on(1)}, {"many", trained_on(1)}};
  trials[1].trial.workload.mode = Mode::infer;
  trials[2].trial.settings.instances = 2;
  std::vector<store::RunRow> runs(8, training_run("two", 3'000'000));
  runs[1].counted = false;
  runs[2].trusted = false;
  runs[3].outcome = OutcomeKind::failed;
  runs[4].summary.median_ns.reset();
  runs[5].trial = "infer";
  runs[6].trial = "many";
  runs[7].trial = "gone";
  const auto truths = step_truths(trials, runs);
  ASSERT_EQ(truths.size(), 1u);
  EXPECT_EQ(truths[0].devices, 2);
  EXPECT_EQ(truths[0].batch, 8);
  EXPECT_DOUBLE_EQ(*truths[0].seconds, 3e-3);
  EXPECT_THAT(truths[0].source, HasSubstr("[01234567]"));
}

TEST(Scores, AreOfTheNewestPredictionsForWhichSomethingWasMeasured) {
  std::vector<predict::KeptPrediction> kept;
  for (const auto& artifact : {prediction_of("aaaaaaaaaa", 1), prediction_of("bbbbbbbbbb", 4),
                               prediction_of("cccccccccc", 1), prediction_of("dddddddddd", 1)}) {
    kept.push_back(kept_prediction(artifact));
  }
  const auto truths = step_truths({{"one", trained_on(1)}}, {training_run("one", 2'500'000)});
  const auto scores = newest_scores(kept, truths, 2);
  ASSERT_EQ(scores.size(), 2u);  // of 4 devices nothing was measured, and a third is one too many
  EXPECT_EQ(scores[0].points[0].prediction, "dddddddd");
  EXPECT_EQ(scores[1].points[0].prediction, "cccccccc");
  EXPECT_EQ(newest_scores(kept, truths, 9).size(), 3u);
  // 2 ms were said and 2.5 ms found, later.
  EXPECT_EQ(scores[0].counted, 1);
  EXPECT_NEAR(scores[0].points[0].error, -0.2, 1e-12);
}

TEST(Scores, APredictionThatCannotBeReadIsRefused) {
  auto artifact = prediction_of("aaaaaaaaaa", 1);
  artifact.content = json{{"prediction_version", 1}};
  EXPECT_THROW(kept_prediction(artifact), Error);
}

}  // namespace
}  // namespace assay::report
