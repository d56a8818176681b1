#include "assay/model/steps_needed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/core/workloads/learning.hpp"

namespace assay::model {
namespace {

using testing::HasSubstr;

/// Trainings and what they learnt, as a store says it.
struct Learnt {
  std::vector<store::TrialRow> trials;
  std::vector<store::RunRow> runs;

  /// A trial of lenet that is to reach `until` in at most `epochs`.
  std::string add(const std::string& until, std::int64_t epochs, std::int64_t batch = 32, double rate = 0.01,
                  const std::string& worker = "pytorch") {
    auto& row = trials.emplace_back();
    row.id = "trial" + std::to_string(trials.size());
    row.trial.worker = {worker, "1.0"};
    auto& workload = row.trial.workload;
    workload.network = "lenet";
    workload.mode = Mode::train;
    workload.batch = batch;
    workload.data = kDigits;
    workload.options = {
        {"until", until}, {"epochs", epochs}, {"optimizer", std::string("sgd")}, {"learning_rate", rate}};
    return row.id;
  }

  store::RunRow& run(const std::string& trial, std::vector<std::int64_t> correct) {
    Learned learned;
    learned.held_out = kDigitsHeldOut;
    learned.epochs = std::ssize(correct);
    learned.correct = std::move(correct);
    auto& row = runs.emplace_back();
    row.trial = trial;
    row.digest.effective[kLearned] = {to_json(learned)};
    return row;
  }

  StepsNeeded steps_to(double accuracy, const TrainingKind& asked = {}) const {
    return LearntRuns(trials, runs).steps_to(accuracy, asked);
  }

  std::string refusal(double accuracy, const TrainingKind& asked = {}) const {
    try {
      steps_to(accuracy, asked);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  }
};

/// Scores of a training that has 350 of 360, 97.2 %, after `epochs`, and 340, 94.4 %, one epoch before.
std::vector<std::int64_t> after(std::int64_t epochs) {
  std::vector<std::int64_t> correct(static_cast<std::size_t>(epochs), 300);
  correct.back() = 350;
  if (epochs > 1) correct[correct.size() - 2] = 340;
  return correct;
}

// An epoch of batches of 32 has 1437 / 32 = 44 steps. Of 7 values ranks 1 and 7 hold the median with 98.4 %.
TEST(StepsNeeded, AreTheMedianOverSeedsWithItsInterval) {
  Learnt learnt;
  const auto trial = learnt.add("accuracy>=97%", 100);
  for (const std::int64_t epochs : {7, 5, 9, 6, 8, 4, 10}) learnt.run(trial, after(epochs));
  const auto needed = learnt.steps_to(0.97);
  EXPECT_EQ(needed.runs, 7);
  EXPECT_EQ(needed.reached, 7);
  EXPECT_EQ(needed.batch, 32);
  EXPECT_EQ(needed.steps, 7 * 44);
  EXPECT_EQ(needed.low_steps, 4 * 44);
  EXPECT_EQ(needed.high_steps, 10 * 44);
  EXPECT_EQ(needed.training.at("learning_rate"), "0.01");
  EXPECT_EQ(learnt.steps_to(0.94).steps, 6 * 44);  // 340 of 360 are 94.4 %, an epoch before
}

TEST(StepsNeeded, HaveNoIntervalOfFewRuns) {
  Learnt learnt;
  const auto trial = learnt.add("accuracy>=97%", 100);
  for (const std::int64_t epochs : {7, 5}) learnt.run(trial, after(epochs));
  const auto needed = learnt.steps_to(0.97);
  EXPECT_EQ(needed.steps, 6 * 44);
  EXPECT_FALSE(needed.low_steps);
  EXPECT_FALSE(needed.high_steps);
}

TEST(StepsNeeded, ARunThatEndedWithoutItNeedsMoreThanAny) {
  Learnt learnt;
  const auto trial = learnt.add("accuracy>=97%", 8);
  for (const std::int64_t epochs : {4, 5, 6, 7}) learnt.run(trial, after(epochs));
  for (int i = 0; i < 3; ++i) learnt.run(trial, std::vector<std::int64_t>(8, 348));  // 96.7 %
  const auto needed = learnt.steps_to(0.97);
  EXPECT_EQ(needed.reached, 4);
  EXPECT_EQ(needed.steps, 7 * 44);  // the fourth of 4, 5, 6, 7 and three that are longer
  EXPECT_EQ(needed.low_steps, 4 * 44);
  EXPECT_FALSE(needed.high_steps);
  learnt.run(trial, std::vector<std::int64_t>(8, 348));
  EXPECT_THAT(learnt.refusal(0.97), HasSubstr("4 of 8 runs reached 97 % within 8 epochs"));
}

TEST(StepsNeeded, AreThoseOfAllFrameworksTogether) {
  Learnt learnt;
  learnt.run(learnt.add("accuracy>=97%", 100), after(4));
  learnt.run(learnt.add("accuracy>=97%", 100, 32, 0.01, "jax"), after(8));
  learnt.run(learnt.add("accuracy>=97%", 100, 32, 0.01, "mxnet"), after(5)).trusted = false;  // of its time
  EXPECT_EQ(learnt.steps_to(0.97).steps, 5 * 44);
}

TEST(StepsNeeded, OnlyRunsCountThatWereToReachAsMuch) {
  Learnt learnt;
  learnt.run(learnt.add("accuracy>=90%", 100), after(1));  // it ended where it had 90 %, and happens to have 97 %
  learnt.run(learnt.add("accuracy>=99%", 100), {300, 350, 355, 357});
  EXPECT_EQ(learnt.steps_to(0.97).runs, 1);
  EXPECT_EQ(learnt.steps_to(0.97).steps, 2 * 44);
  EXPECT_EQ(learnt.steps_to(0.9).runs, 2);
  EXPECT_THAT(learnt.refusal(0.995), HasSubstr("no run that counts was trained to 99.5 %"));
}

TEST(StepsNeeded, RunsWithFewerEpochsAreLeftOut) {
  Learnt learnt;
  learnt.run(learnt.add("accuracy>=97%", 3), {300, 310, 320});  // nobody knows what a fourth would have brought
  const auto longer = learnt.add("accuracy>=97%", 100);
  learnt.run(longer, after(5));
  EXPECT_EQ(learnt.steps_to(0.97).runs, 1);
  EXPECT_EQ(learnt.steps_to(0.97).epochs, 100);
}

TEST(StepsNeeded, FailedRunsAndThoseThatDoNotCountAreLeftOut) {
  Learnt learnt;
  const auto trial = learnt.add("accuracy>=97%", 100);
  learnt.run(trial, after(1)).outcome = OutcomeKind::crashed;
  learnt.run(trial, after(1)).counted = false;
  EXPECT_THAT(learnt.refusal(0.97), HasSubstr("`assay run NETWORK --until 'accuracy>=97%' --runs 6`"));
  learnt.run(trial, after(6));
  EXPECT_EQ(learnt.steps_to(0.97).steps, 6 * 44);
}

// Of 64 in a batch there are 1437 / 64 = 22 steps in an epoch.
TEST(StepsNeeded, AreThoseOfTheTrainingThatIsAskedFor) {
  Learnt learnt;
  learnt.run(learnt.add("accuracy>=97%", 100), after(6));
  learnt.run(learnt.add("accuracy>=97%", 100, 64), after(9));
  learnt.run(learnt.add("accuracy>=97%", 100, 32, 0.1), after(2));
  EXPECT_THAT(learnt.refusal(0.97), HasSubstr("3 trainings to 97 % are meant"));
  EXPECT_EQ(learnt.steps_to(0.97, {{"batch", "64"}}).steps, 9 * 22);
  EXPECT_EQ(learnt.steps_to(0.97, {{"batch", "32"}, {"learning_rate", "0.10"}}).steps, 2 * 44);
  EXPECT_THAT(learnt.refusal(0.97, {{"batch", "128"}}),
              AllOf(HasSubstr("with batch 128"), HasSubstr("Trained were:\n  batch 32, learning_rate 0.01")));
  EXPECT_THAT(learnt.refusal(0.97, {{"classes", "10"}}), HasSubstr("with classes 10"));
}

// Ten steps of 2 ms, 8 to 15 of them, each of 1 to 4 ms.
TEST(StepsNeeded, TimesTheTimeOfAStepAreATime) {
  StepsNeeded needed;
  needed.steps = 10;
  needed.low_steps = 8;
  needed.high_steps = 15;
  const auto time = time_to(needed, {0.002, 0.001, 0.004});
  EXPECT_DOUBLE_EQ(time.seconds, 0.02);
  EXPECT_DOUBLE_EQ(*time.low_seconds, 0.008);
  EXPECT_DOUBLE_EQ(*time.high_seconds, 0.06);
  needed.high_steps.reset();
  EXPECT_FALSE(time_to(needed, {0.002, 0.001, 0.004}).high_seconds);
  EXPECT_FALSE(time_to(needed, {0.002, {}, {}}).low_seconds);
}

// Two ranks of 16 samples are one training with batches of 32.
TEST(StepsNeeded, AStepOfSeveralRanksIsOneOfAllTheirSamples) {
  Trial trial;
  trial.workload.network = "lenet";
  trial.workload.mode = Mode::train;
  trial.workload.batch = 16;
  trial.placement.ranks = 2;
  EXPECT_EQ(step_of(trial).at("batch"), "32");
  EXPECT_FALSE(training_of(trial));
}

}  // namespace
}  // namespace assay::model
