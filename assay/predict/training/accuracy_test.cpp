#include "assay/predict/training/accuracy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/core/workloads/learning.hpp"

namespace assay::predict {
namespace {

using testing::HasSubstr;

/// Trials of lenet in batches of 32, and their runs.
struct Measured {
  std::vector<store::TrialRow> trials;
  std::vector<store::RunRow> runs;

  Trial& add(const std::string& id) {
    auto& trial = trials.emplace_back(store::TrialRow{id, {}}).trial;
    trial.worker = {id, "1.0"};
    trial.workload.network = "lenet";
    trial.workload.mode = Mode::train;
    trial.workload.batch = 32;
    return trial;
  }

  void add_steps(const std::string& trial, const std::vector<std::int64_t>& medians_us) {
    for (const auto us : medians_us) {
      auto& run = runs.emplace_back();
      run.trial = trial;
      run.platform = "here";
      run.summary.median_ns = 1000 * us;
    }
  }

  /// Runs of one trial that has 97 % after so many epochs, of steps of so many microseconds.
  void add_learnt(const std::string& id, const char* optimizer, const std::vector<std::int64_t>& epochs,
                  std::int64_t us) {
    auto& workload = add(id).workload;
    workload.data = kDigits;
    workload.options = {{"until", std::string("accuracy>=97%")},
                        {"epochs", std::int64_t{100}},
                        {"optimizer", std::string(optimizer)},
                        {"learning_rate", 0.01}};
    for (const auto count : epochs) {
      Learned learned;
      learned.held_out = kDigitsHeldOut;
      learned.correct.assign(static_cast<std::size_t>(count), 300);
      learned.correct.back() = 350;
      add_steps(id, {us});
      runs.back().digest.effective[kLearned] = {to_json(learned)};
    }
  }

  AccuracyPrediction predict(const model::TrainingKind& asked = {{"network", "lenet"}, {"optimizer", "sgd"}}) const {
    return predict_accuracy({0.97, asked}, {trials, runs}, trials, runs);
  }
};

// An epoch has 1437 / 32 = 44 steps. Six seeds need 4 to 9 epochs: 6.5 in the median, and 4 to 9 with 97 %.
TEST(PredictAccuracy, EveryMeasuredStepComesToATime) {
  Measured measured;
  measured.add_learnt("learns", "sgd", {4, 5, 6, 7, 8, 9}, 2000);
  measured.add("plain");
  measured.add_steps("plain", {900, 1000, 1100, 950, 1050, 1000});
  const auto said = measured.predict();
  ASSERT_EQ(said.rows.size(), 2);
  const auto& plain = said.rows[0];  // the faster one is first
  EXPECT_EQ(plain.trial_id, "plain");
  EXPECT_EQ(plain.runs, 6);
  EXPECT_DOUBLE_EQ(plain.step.seconds, 0.001);
  EXPECT_DOUBLE_EQ(*plain.step.low_seconds, 0.0009);
  EXPECT_DOUBLE_EQ(*plain.step.high_seconds, 0.0011);
  EXPECT_DOUBLE_EQ(plain.reached->needed.steps, 6.5 * 44);
  EXPECT_DOUBLE_EQ(plain.reached->time.seconds, 6.5 * 44 * 0.001);
  EXPECT_DOUBLE_EQ(*plain.reached->time.low_seconds, 4 * 44 * 0.0009);
  EXPECT_DOUBLE_EQ(*plain.reached->time.high_seconds, 9 * 44 * 0.0011);
  EXPECT_EQ(said.rows[1].trial_id, "learns");
  EXPECT_DOUBLE_EQ(said.rows[1].reached->time.seconds, 6.5 * 44 * 0.002);
}

TEST(PredictAccuracy, StepsOfAnotherTrainingAreNoRows) {
  Measured measured;
  measured.add_learnt("sgd", "sgd", {5}, 2000);
  measured.add_learnt("adam", "adam", {5}, 3000);
  measured.add("infers").workload.mode = Mode::infer;
  measured.add("shares").settings.instances = 2;
  measured.add("other").workload.network = "mlp";
  for (const char* id : {"infers", "shares", "other"}) measured.add_steps(id, {1000});
  measured.add("plain");
  measured.add_steps("plain", {1000});  // takes steps of SGD
  const auto ids = [&](const char* optimizer) {
    std::vector<std::string> found;
    for (const auto& row : measured.predict({{"network", "lenet"}, {"optimizer", optimizer}}).rows) {
      found.push_back(row.trial_id);
    }
    return found;
  };
  EXPECT_THAT(ids("sgd"), testing::ElementsAre("plain", "sgd"));
  EXPECT_THAT(ids("adam"), testing::ElementsAre("adam"));
}

TEST(PredictAccuracy, DisturbedRunsGiveStepsAndNoTimes) {
  Measured measured;
  measured.add_learnt("learns", "sgd", {4, 8}, 2000);
  for (auto& run : measured.runs) run.trusted = false;
  measured.add("plain");
  measured.add_steps("plain", {1000});
  const auto said = measured.predict();
  ASSERT_EQ(said.rows.size(), 1);
  EXPECT_DOUBLE_EQ(said.rows[0].reached->time.seconds, 6 * 44 * 0.001);
  EXPECT_FALSE(said.rows[0].step.low_seconds);
}

TEST(PredictAccuracy, ARowOfWhichNobodyKnowsTheStepsSaysSo) {
  Measured measured;
  measured.add_learnt("learns", "sgd", {5}, 2000);
  measured.add("larger").workload.batch = 64;
  measured.add_steps("larger", {1000});
  const auto said = measured.predict();
  ASSERT_EQ(said.rows.size(), 2);
  EXPECT_TRUE(said.rows[0].reached);
  EXPECT_FALSE(said.rows[1].reached);
  EXPECT_THAT(*said.rows[1].refused, HasSubstr("batch 64"));
}

TEST(PredictAccuracy, IsRefusedWhereStepsOrTheirTimeAreNotKnown) {
  Measured measured;
  const auto refusal = [&] {
    try {
      measured.predict();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal(), HasSubstr("no undisturbed run of lenet in mode train"));
  measured.add("plain");
  measured.add_steps("plain", {1000});
  EXPECT_THAT(refusal(), HasSubstr("no run that counts was trained to 97 %"));
}

}  // namespace
}  // namespace assay::predict
