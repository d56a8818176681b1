#include "assay/predict/scaling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

/// One layer, 1 s forward, 2 s backward, 100 bytes; up to 8 nodes with 10 B/s between them and no latency.
Question slow_links() {
  Question question;
  question.table.name = "one";
  question.table.batch = 8;
  question.table.layers = {{"layer", 1, 2, {100}, 50}};
  question.cluster.nodes = 8;
  question.cluster.across = Wire{1e-9, 10};
  question.practice.all_reduce = AllReduce::ring;
  return question;
}

TEST(Scaling, WeakKeepsTheBatchAndLosesToTheRing) {
  // On 4: 3 s of compute and 2 x 3/4 x 100 / 10 = 15 s of ring after it.
  const auto point = predict_point(slow_links(), 4);
  EXPECT_NEAR(point.step.seconds, 18, 1e-6);
  EXPECT_NEAR(point.samples_per_second, 32.0 / 18, 1e-6);
  EXPECT_NEAR(point.efficiency, 3.0 / 18, 1e-6);
  EXPECT_EQ(point.limit, ScaleLimit::communication);
  EXPECT_NEAR(predict_point(slow_links(), 1).efficiency, 1, 1e-12);
}

TEST(Scaling, StrongDividesTheBatch) {
  auto question = slow_links();
  question.scaling = Scaling::strong;
  // On 4 devices 2 samples each: .75 s of compute.
  const auto point = predict_point(question, 4);
  EXPECT_EQ(point.batch, 2);
  EXPECT_NEAR(point.step.seconds, 15.75, 1e-6);
  question.table.batch = 9;
  EXPECT_THROW(static_cast<void>(predict_point(question, 4)), Error);
}

TEST(Scaling, NamesWhatLimitsAStep) {
  auto question = slow_links();
  question.cluster.across->bytes_per_second = 1e6;
  EXPECT_EQ(predict_point(question, 4).limit, ScaleLimit::compute);
  question.table.load_seconds = 10;
  EXPECT_EQ(predict_point(question, 4).limit, ScaleLimit::input);
}

TEST(Scaling, RanksWhatWouldHelp) {
  const auto advice = advise(slow_links(), 4);
  ASSERT_FALSE(advice.empty());
  for (std::size_t i = 1; i < advice.size(); ++i) EXPECT_GE(advice[i - 1].gain, advice[i].gain);
  // Twice the bandwidth: 3 + 7.5 s. Half the bytes: the same. Twice the batch: 6 + 15 s for twice the samples.
  const auto find = [&](const std::string& name) {
    for (const auto& one : advice) {
      if (one.change == name) return one.gain;
    }
    return 0.0;
  };
  EXPECT_NEAR(find("twice the bandwidth between nodes"), 18 / 10.5, 1e-6);
  EXPECT_NEAR(find("gradients of half the bytes"), 18 / 10.5, 1e-6);
  EXPECT_NEAR(find("twice the batch on each device"), 2 * 18 / 21.0, 1e-6);
  EXPECT_EQ(find("half the latency between nodes"), 0);  // gains nothing here
}

TEST(Scaling, KnowsMemoryAndPrice) {
  auto question = slow_links();
  question.cluster.device.memory_bytes = 349;
  question.cluster.price_per_hour = 2;
  question.job_samples = 3600 * 32.0 / 18 * 10;
  const auto point = predict_point(question, 4);
  // 100 B of parameters and of gradients, 100 B of momentum, 50 B of activations.
  EXPECT_DOUBLE_EQ(point.memory.total(), 350);
  EXPECT_FALSE(*point.fits);
  EXPECT_NEAR(*point.job_hours, 10, 1e-6);
  EXPECT_NEAR(*point.job_price, 10 * 2 * 4, 1e-5);
  question.practice.zero = 3;
  EXPECT_DOUBLE_EQ(predict_point(question, 4).memory.total(), 75 + 50);
}

TEST(Scaling, GivesTheEndsOfWhatIsAssumed) {
  auto question = slow_links();
  question.best.compute = 0.5;
  question.worst.compute = 2;
  question.range = RangeKind::what_if;
  const auto said = predict_scaling(question, {1, 4});
  ASSERT_EQ(said.points.size(), 2u);
  EXPECT_NEAR(said.points[1].low_seconds, 16.5, 1e-6);
  EXPECT_NEAR(said.points[1].high_seconds, 21, 1e-6);
  EXPECT_EQ(said.range, RangeKind::what_if);
}

}  // namespace
}  // namespace assay::predict
