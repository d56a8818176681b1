#include "assay/compare/scaling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::compare {
namespace {

using testing::ElementsAre;

Trial base_trial(std::int64_t batch) {
  Trial trial;
  trial.workload.network = "toy";
  trial.workload.batch = batch;
  trial.worker = {"fake", "1"};
  return trial;
}

const ScaleCurve& curve_of(const ScalingStudy& study, ScalingKind kind, ScaledBy by) {
  const auto it = std::find_if(study.curves.begin(), study.curves.end(),
                               [&](const auto& curve) { return curve.kind == kind && curve.by == by; });
  if (it == study.curves.end()) throw std::runtime_error("there is no such curve");
  return *it;
}

std::vector<std::int64_t> batches(const ScaleCurve& curve) {
  std::vector<std::int64_t> out;
  for (const auto& point : curve.points) out.push_back(point.batch);
  return out;
}

TEST(Scaling, counts_double_and_end_with_all) {
  EXPECT_THAT(doubling_up_to(1), ElementsAre(1));
  EXPECT_THAT(doubling_up_to(2), ElementsAre(1, 2));
  EXPECT_THAT(doubling_up_to(12), ElementsAre(1, 2, 4, 8, 12));
}

// Batch 4 on 1, 2 and 4 CPUs. Threads: strong 4 4 4, weak 4 8 16; instances: strong 4 2 1, weak 4 4 4.
// One CPU is the same trial on all four curves; so there are 1 + 4 x 2 trials.
TEST(Scaling, strong_keeps_the_step_and_weak_the_share_of_a_cpu) {
  const auto plan = plan_scaling(base_trial(4), {1, 2, 4});
  EXPECT_THAT(batches(curve_of(plan.study, ScalingKind::strong, ScaledBy::threads)), ElementsAre(4, 4, 4));
  EXPECT_THAT(batches(curve_of(plan.study, ScalingKind::weak, ScaledBy::threads)), ElementsAre(4, 8, 16));
  EXPECT_THAT(batches(curve_of(plan.study, ScalingKind::strong, ScaledBy::instances)), ElementsAre(4, 2, 1));
  EXPECT_THAT(batches(curve_of(plan.study, ScalingKind::weak, ScaledBy::instances)), ElementsAre(4, 4, 4));
  EXPECT_EQ(plan.trials.size(), 9u);
  EXPECT_TRUE(plan.study.left_out.empty());
}

TEST(Scaling, a_batch_that_cannot_be_shared_is_left_out_and_told) {
  const auto plan = plan_scaling(base_trial(3), {1, 2, 3});
  EXPECT_THAT(batches(curve_of(plan.study, ScalingKind::strong, ScaledBy::instances)), ElementsAre(3, 1));
  EXPECT_THAT(plan.study.left_out,
              ElementsAre("strong by instances, 2 CPUs: a batch of 3 cannot be shared by 2 instances"));
}

TEST(Scaling, instances_may_have_several_threads) {
  auto base = base_trial(8);
  base.settings.intra_op = 2;
  const auto& study = plan_scaling(base, {1, 2, 4}).study;
  const auto& curve = curve_of(study, ScalingKind::weak, ScaledBy::instances);
  ASSERT_EQ(curve.points.size(), 2u);  // 1 CPU has no room for two threads
  EXPECT_EQ(curve.points[1].cpus, 4);
  EXPECT_EQ(curve.points[1].instances, 2);
  EXPECT_EQ(curve.points[1].threads, 2);
}

Trial base_generating(std::int64_t sequences) {
  auto trial = base_trial(1);
  trial.workload.network = "llama_9m";
  trial.workload.mode = Mode::generate;
  trial.workload.generate = Generation{.output_tokens = 10, .sequences = sequences, .cache_precision = {}};
  return trial;
}

// As with a batch of 2, in sequences; the batch stays 1, or the trial would not be valid.
TEST(Scaling, of_generated_text_grows_sequences) {
  const auto plan = plan_scaling(base_generating(2), {1, 2, 4});
  EXPECT_THAT(batches(curve_of(plan.study, ScalingKind::strong, ScaledBy::threads)), ElementsAre(2, 2, 2));
  EXPECT_THAT(batches(curve_of(plan.study, ScalingKind::weak, ScaledBy::threads)), ElementsAre(2, 4, 8));
  EXPECT_THAT(batches(curve_of(plan.study, ScalingKind::strong, ScaledBy::instances)), ElementsAre(2, 1));
  EXPECT_THAT(plan.study.left_out,
              ElementsAre("strong by instances, 4 CPUs: 2 sequences cannot be shared by 4 instances"));
  for (const auto& curve : plan.study.curves) {
    for (const auto& point : curve.points) {
      const auto same = [&](const Trial& trial) { return trial_id(trial) == point.trial_id; };
      const auto trial = std::find_if(plan.trials.begin(), plan.trials.end(), same);
      ASSERT_NE(trial, plan.trials.end());
      EXPECT_NO_THROW(check(*trial));
      EXPECT_EQ(trial->workload.generate->sequences, point.batch);
    }
  }
}

store::RunRow row(const std::string& trial, double rate) {
  store::RunRow out;
  out.trial = trial;
  out.summary.samples_per_second = rate;
  return out;
}

// 100/s on one CPU and 320/s on four: speed-up 3.2, efficiency .8, serial share (1/3.2 - 1/4) / (1 - 1/4) = 1/12.
// Rates are 90 and 100 x 10/9 on either side, whose geometric means are 100 and 320.
TEST(Scaling, speedup_efficiency_and_what_does_not_scale) {
  auto plan = plan_scaling(base_trial(4), {1, 4});
  auto& study = plan.study;
  const auto& curve = curve_of(study, ScalingKind::strong, ScaledBy::threads);
  std::vector<store::RunRow> rows;
  for (const double luck : {0.9, 1 / 0.9}) {
    rows.push_back(row(curve.points[0].trial_id, 100 * luck));
    rows.push_back(row(curve.points[1].trial_id, 320 * luck));
  }
  auto disturbed = row(curve.points[1].trial_id, 1);
  disturbed.trusted = false;
  rows.push_back(disturbed);
  measure_curves(study, rows);
  const auto& first = curve.points[0];
  const auto& last = curve.points[1];
  EXPECT_NEAR(*first.samples_per_second, 100, 1e-9);
  EXPECT_FALSE(first.speedup);
  EXPECT_EQ(last.runs, 2);
  EXPECT_EQ(last.disturbed, 1);
  EXPECT_NEAR(*last.speedup, 3.2, 1e-9);
  EXPECT_NEAR(*last.efficiency, 0.8, 1e-9);
  EXPECT_NEAR(*last.serial_share, 1.0 / 12, 1e-9);
  // Logs differ by +-.10536 on either side: SD .149, standard error .10536 sqrt 2 = .149, 2 degrees, t = 4.3027.
  EXPECT_NEAR(*last.speedup_high, 3.2 * std::exp(4.30265 * 0.149001), 1e-3);
  EXPECT_NEAR(*last.speedup_low, 3.2 * std::exp(-4.30265 * 0.149001), 1e-3);
  const auto& weak = curve_of(study, ScalingKind::weak, ScaledBy::threads);
  EXPECT_FALSE(weak.points[1].speedup) << "it was not measured";
}

// One step a second either way: of 2 sequences on one CPU, of 4 on two. 10 tokens each: 20 and 40 tokens per second,
// so that weak scaling is perfect, though the summary's samples, which are steps, stay at one a second.
TEST(Scaling, of_generated_text_counts_sequences_and_not_steps) {
  auto plan = plan_scaling(base_generating(2), {1, 2});
  const auto& curve = curve_of(plan.study, ScalingKind::weak, ScaledBy::threads);
  std::vector<store::RunRow> rows{row(curve.points[0].trial_id, 1), row(curve.points[1].trial_id, 1)};
  rows[0].summary.generated = GeneratedSummary{};
  rows[0].summary.generated->output_tokens_per_second = 20;
  rows[1].summary.generated = GeneratedSummary{};
  rows[1].summary.generated->output_tokens_per_second = 40;
  measure_curves(plan.study, rows);
  EXPECT_NEAR(*curve.points[0].samples_per_second, 2, 1e-9);
  EXPECT_NEAR(*curve.points[1].samples_per_second, 4, 1e-9);
  EXPECT_NEAR(*curve.points[1].speedup, 2, 1e-9);
  EXPECT_NEAR(*curve.points[1].efficiency, 1, 1e-9);
}

}  // namespace
}  // namespace assay::compare
