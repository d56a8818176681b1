#include "workers/fake/law.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

namespace assay::fake {
namespace {

Workload toy(Mode mode, std::int64_t batch) {
  Workload workload;
  workload.network = "toy";
  workload.mode = mode;
  workload.batch = batch;
  return workload;
}

Settings threads(std::int64_t intra_op, std::int64_t inter_op) {
  Settings settings;
  settings.intra_op = intra_op;
  settings.inter_op = inter_op;
  return settings;
}

TEST(Law, InferringABatchOfEightTakesAMillisecond) {
  // 200,000 + 8 * 100,000 = 1,000,000; no threads given: factor .1 + .9 / 1 = 1.
  EXPECT_DOUBLE_EQ(typical_ns(Law{}, toy(Mode::infer, 8), Settings{}), 1e6);
}

TEST(Law, TrainingTakesThreeTimesAsLongAndScaleMultiplies) {
  Law law;
  law.scale = 1.5;
  EXPECT_DOUBLE_EQ(typical_ns(law, toy(Mode::train, 8), Settings{}), 4.5e6);
}

TEST(Law, ThreadsShortenTheParallelShare) {
  EXPECT_NEAR(threads_factor(Law{}, threads(2, 1)), 0.1 + 0.9 / 2, 1e-12);        // .55
  EXPECT_NEAR(threads_factor(Law{}, threads(4, 1)), 0.1 + 0.9 / 4, 1e-12);        // .325
  EXPECT_NEAR(threads_factor(Law{}, threads(8, 1)), 0.1 + 0.9 / 4, 1e-12);        // one operator uses four at most
  EXPECT_NEAR(threads_factor(Law{}, threads(4, 2)), 0.1 + 0.9 / 8 + .01, 1e-12);  // .2225
  EXPECT_NEAR(threads_factor(Law{}, threads(1, 4)), 0.1 + 0.9 / 2 + .03, 1e-12);  // two operators at once at most
  EXPECT_NEAR(threads_factor(Law{}, threads(8, 2)), 0.1 + 0.9 / 8 + .01 + .25, 1e-12);  // 16 threads on 8 cores
}

TEST(Law, FourThreadsForTwoOperatorsAreTheOnlyOptimum) {
  const double best = threads_factor(Law{}, threads(4, 2));
  for (std::int64_t p = 1; p <= 32; ++p) {
    for (std::int64_t q = 1; q <= 32; ++q) {
      if (p == 4 && q == 2) continue;
      EXPECT_GT(threads_factor(Law{}, threads(p, q)), best + 0.005) << p << " " << q;
    }
  }
}

TEST(Law, WarmUpDecaysAndEnds) {
  Law law;
  EXPECT_EQ(warmup_factor(law, 0), 1);  // none by default
  law.warmup_steps = 10;
  EXPECT_DOUBLE_EQ(warmup_factor(law, 0), 1.5);
  EXPECT_NEAR(warmup_factor(law, 2), 1 + 0.5 * 0.367879441171, 1e-12);  // e^-1
  EXPECT_EQ(warmup_factor(law, 10), 1);
}

TEST(Law, SplitMixGivesThePublishedFirstNumbers) {
  // The reference generator (Vigna, splitmix64.c) with state 0 and then one golden-ratio step further.
  EXPECT_EQ(splitmix64(0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(splitmix64(0x9e3779b97f4a7c15u), 0x6e789e6aa1b965f4u);
}

TEST(Law, NoiseHasTheSpreadAskedForAndIsAPureFunction) {
  Law law;
  law.noise = 0.05;
  constexpr int kCount = 20'000;
  double sum = 0;
  double squares = 0;
  for (int n = 0; n < kCount; ++n) {
    const double z = std::log(noise_factor(law, {7, 0, 0}, n)) / law.noise;
    sum += z;
    squares += z * z;
  }
  EXPECT_NEAR(sum / kCount, 0, 4 / std::sqrt(kCount));  // four standard errors
  EXPECT_NEAR(squares / kCount, 1, 4 * std::sqrt(2.0 / kCount));
  EXPECT_EQ(noise_factor(law, {7, 0, 0}, 5), noise_factor(law, {7, 0, 0}, 5));
  const std::set<double> different{noise_factor(law, {7, 0, 0}, 5), noise_factor(law, {8, 0, 0}, 5),
                                   noise_factor(law, {7, 1, 0}, 5), noise_factor(law, {7, 0, 1}, 5),
                                   noise_factor(law, {7, 0, 0}, 6)};
  EXPECT_EQ(different.size(), 5u);
}

TEST(Law, RunNoiseIsTheSameForEveryStepOfAProcess) {
  Law law;
  law.noise = 0;
  law.run_noise = 0.1;
  EXPECT_EQ(noise_factor(law, {1, 0, 0}, 0), noise_factor(law, {1, 0, 0}, 99));
  EXPECT_NE(noise_factor(law, {1, 0, 0}, 0), noise_factor(law, {2, 0, 0}, 0));
}

TEST(Law, TheHostIsSlowInTheSecondHalfOfEachPeriod) {
  Law law;
  EXPECT_EQ(host_factor(law, 999'999'999), 1);
  law.slowdown = 0.3;
  law.slowdown_period_ms = 100;
  EXPECT_EQ(host_factor(law, 1'049'999'999), 1);
  EXPECT_DOUBLE_EQ(host_factor(law, 1'050'000'000), 1.3);
  EXPECT_DOUBLE_EQ(host_factor(law, 1'099'999'999), 1.3);
  EXPECT_EQ(host_factor(law, 1'100'000'000), 1);
}

TEST(Law, PartsSumToTheWholeAndTheLastTakesTheRest) {
  // 5 % of 1003 is 50.15, 30 % is 300.9, 50 % is 501.5: rounded down; the rest is 1003 - 50 - 50 - 300 - 501 = 102.
  std::vector<std::int64_t> train(5);
  split(1003, phases_of(Mode::train).percents, train);
  EXPECT_EQ(train, (std::vector<std::int64_t>{50, 50, 300, 501, 102}));
  std::vector<std::int64_t> infer(3);
  split(1003, phases_of(Mode::infer).percents, infer);
  EXPECT_EQ(infer, (std::vector<std::int64_t>{100, 100, 803}));
}

TEST(Law, LayersShareByRisingWeights) {
  std::vector<std::int64_t> layers(4);
  split_rising(1007, layers);  // tenths: 100.7, 201.4, 302.1 rounded down, then the rest
  EXPECT_EQ(layers, (std::vector<std::int64_t>{100, 201, 302, 404}));
  EXPECT_EQ(std::accumulate(layers.begin(), layers.end(), std::int64_t{0}), 1007);
}

}  // namespace
}  // namespace assay::fake
