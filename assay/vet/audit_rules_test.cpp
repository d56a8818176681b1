#include "assay/vet/audit_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace assay::vet {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kCommandNs = 2 * kMs;  // of every command, beside its steps
constexpr std::int64_t kSteps = 16;

/// `count` steps of about `step_ns`, none like the one before, on one thread that computes all the time.
SeenSteps steps_of(std::int64_t count, std::int64_t step_ns) {
  SeenSteps steps;
  steps.wall_ns = kCommandNs;
  for (std::int64_t i = 0; i < count; ++i) {
    steps.samples_ns.push_back(step_ns + 1000 * i);
    steps.wall_ns += steps.samples_ns.back();
  }
  steps.cpu_ns = steps.busy_ns = steps.wall_ns;
  return steps;
}

/// Steps of `step_ns`, and an evaluate that takes 3 ms more than one.
SeenProcess process_of(std::int64_t step_ns, std::vector<float> output) {
  SeenProcess process;
  for (int i = 0; i < 3; ++i) {
    process.turns.push_back({steps_of(1, step_ns), steps_of(1, step_ns), steps_of(kSteps, step_ns), step_ns + 3 * kMs});
  }
  process.output_error = 1e-6;
  process.output = std::move(output);
  return process;
}

/// A worker that does what it should: 20 ms a step, 5 ms for a quarter.
AuditRound honest() {
  AuditRound seen{process_of(20 * kMs, {1, 2, 3, 4}), process_of(5 * kMs, {5}), process_of(5 * kMs, {1, 2, 3, 4})};
  seen.whole.longest_ns = kPauseNs + 15 * kMs;
  return seen;
}

std::vector<std::string> with(const AuditRound& seen, Judgement judgement) {
  std::vector<std::string> names;
  for (const auto& check : judge(seen)) {
    if (check.judgement == judgement) names.push_back(check.name);
  }
  return names;
}

std::vector<std::string> alarms(const AuditRound& seen) {
  return with(seen, Judgement::alarm);
}

TEST(AuditRules, AnHonestWorkerRaisesNoAlarm) {
  EXPECT_THAT(alarms(honest()), IsEmpty());
  EXPECT_THAT(with(honest(), Judgement::not_tried), IsEmpty());
}

TEST(AuditRules, AnotherOutputThanThatOfEvaluateIsAnAlarm) {
  auto seen = honest();
  seen.fewer_layers.output_error = 1e-3;  // what half precision does
  EXPECT_THAT(alarms(seen), ElementsAre("output"));
  seen = honest();
  seen.whole.output_error = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(alarms(seen), ElementsAre("output"));
}

TEST(AuditRules, TheSameOutputForOtherValuesIsAnAlarm) {
  auto seen = honest();
  seen.fewer_samples.output = {1};  // the first of the whole
  EXPECT_THAT(alarms(seen), ElementsAre("other_values"));
}

TEST(AuditRules, AnOutputThatIsComputedOnceMoreIsAnAlarm) {
  auto seen = honest();
  for (auto& turn : seen.whole.turns) turn.one_with_output->cpu_ns += 20 * kMs;
  EXPECT_THAT(alarms(seen), ElementsAre("late_output"));
}

TEST(AuditRules, EverySecondStepLeftOutCostsTooLittle) {
  auto seen = honest();
  // 16 samples take the CPU time of 8 steps, of one alone nobody knows: it is the first.
  for (auto* process : {&seen.whole, &seen.fewer_samples, &seen.fewer_layers}) {
    for (auto& turn : process->turns) {
      for (auto& ns : turn.many.samples_ns) ns /= 2;
      turn.many.wall_ns /= 2;
      turn.many.cpu_ns = turn.many.busy_ns = turn.many.wall_ns;
    }
  }
  EXPECT_THAT(alarms(seen), ElementsAre("cost"));
}

TEST(AuditRules, TheCostIsThatOfTheSameWorkUntimed) {
  auto seen = honest();
  // A step of 14 ms and a quarter of 3.5 ms where evaluates take 23 and 8 ms: the latter has 4.5 ms beside the work,
  // so the whole is 18.5 ms of work, and 14 / 18.5 = 76 % of it are seen.
  const auto set_step = [](SeenProcess& process, std::int64_t step_ns) {
    for (auto& turn : process.turns) {
      turn.one = steps_of(1, step_ns);
      turn.many = steps_of(kSteps, step_ns);
    }
  };
  set_step(seen.whole, 14 * kMs);
  set_step(seen.fewer_samples, 3'500'000);
  set_step(seen.fewer_layers, 3'500'000);
  EXPECT_THAT(alarms(seen), IsEmpty());
  for (const auto& check : judge(seen)) {
    if (check.name == "cost") {
      EXPECT_EQ(check.seen, "76 %");
    }
  }
}

TEST(AuditRules, TimeThatDoesNotGrowWithWorkIsAnAlarm) {
  auto seen = honest();
  seen.fewer_layers.turns = seen.whole.turns;
  EXPECT_THAT(alarms(seen), ElementsAre("layers"));
  seen = honest();
  seen.fewer_samples.turns = process_of(20 * kMs / 9, {}).turns;  // 9 times the time for 4 times the samples
  EXPECT_THAT(alarms(seen), ElementsAre("batch"));
}

TEST(AuditRules, SamplesThatDoNotAddUpToTheTimeAreAnAlarm) {
  auto seen = honest();
  for (auto& turn : seen.whole.turns) {
    for (auto& ns : turn.many.samples_ns) ns = ns * 9 / 10;
  }
  EXPECT_THAT(alarms(seen), ElementsAre("clock"));
  for (auto& turn : seen.whole.turns) {
    for (auto& ns : turn.many.samples_ns) ns = ns * 10 / 9 * 102 / 100;  // 326 ms within 322 ms
  }
  EXPECT_THAT(alarms(seen), ElementsAre("clock"));
}

TEST(AuditRules, APauseThatIsInNoSampleIsAnAlarm) {
  auto seen = honest();
  seen.whole.longest_ns = 21 * kMs;
  EXPECT_THAT(alarms(seen), ElementsAre("pause"));
  seen.whole.longest_ns.reset();
  EXPECT_THAT(with(seen, Judgement::not_tried), ElementsAre("pause"));
}

TEST(AuditRules, RepeatedSamplesAreAnAlarmAndASingleOneIsNot) {
  auto seen = honest();
  auto& ns = seen.whole.turns[0].many.samples_ns;
  ns[1] = ns[0];
  EXPECT_THAT(alarms(seen), IsEmpty());
  ns[3] = ns[2];
  EXPECT_THAT(alarms(seen), ElementsAre("repeats"));
}

TEST(AuditRules, SleepWithinStepsIsAnAlarmAndWaitingForACpuIsNot) {
  auto seen = honest();
  for (auto& turn : seen.whole.turns) turn.many.busy_ns = turn.many.wall_ns * 8 / 10;
  EXPECT_THAT(alarms(seen), ElementsAre("busy"));
}

TEST(AuditRules, WorkThatGoesOnAfterTheSamplesIsAnAlarm) {
  auto seen = honest();
  seen.whole.idle_cpu_ns = 20 * kMs;
  EXPECT_THAT(alarms(seen), ElementsAre("idle"));
}

TEST(AuditRules, WhatAWorkerCannotIsNotTried) {
  auto seen = honest();
  for (auto* process : {&seen.whole, &seen.fewer_samples, &seen.fewer_layers}) {
    process->output_error.reset();
    for (auto& turn : process->turns) turn.one_with_output.reset();
  }
  EXPECT_THAT(with(seen, Judgement::not_tried), ElementsAre("output", "late_output"));
  for (auto* process : {&seen.whole, &seen.fewer_samples, &seen.fewer_layers}) {
    process->output.clear();
    for (auto& turn : process->turns) turn.evaluate_cpu_ns.reset();
  }
  EXPECT_THAT(with(seen, Judgement::not_tried), ElementsAre("output", "other_values", "late_output", "cost"));
  EXPECT_THAT(alarms(seen), IsEmpty());
}

}  // namespace
}  // namespace assay::vet
