#include "assay/predict/threads/thread_law_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/core/error.hpp"

namespace assay::predict {
namespace {

/// Two chains of eight operators of different lengths side by side, heavy and light in turns.
OperatorTimes two_chains() {
  OperatorTimes times;
  times.dispatch_seconds = 2e-6;
  for (std::size_t i = 0; i < 16; ++i) {
    times.operators.push_back({"", i % 4 < 2, 1e-4 * (1 + static_cast<double>(i)), {}});
    if (i >= 2) times.operators.back().after = {i - 2};
  }
  return times;
}

/// What a machine with these laws would measure, operator by operator.
MeasuredSetting planted_setting(const ThreadLaws& laws, const ThreadSetting& setting) {
  const auto alone = two_chains();
  const auto played = schedule_step(alone.operators, laws, {4, {}}, setting);
  MeasuredSetting step{setting, played.seconds, played.cpu_seconds / played.seconds, alone};
  for (auto& op : step.times.operators) {
    op.seconds = (op.heavy ? laws.heavy : laws.light).seconds(op.seconds, static_cast<double>(setting.intra_op));
  }
  return step;
}

std::vector<MeasuredSetting> thread_campaign(const ThreadLaws& laws) {
  return {planted_setting(laws, {1, 1, {}}), planted_setting(laws, {1, 2, {}}), planted_setting(laws, {1, 4, {}}),
          planted_setting(laws, {2, 1, {}}), planted_setting(laws, {4, 4, {}})};
}

ThreadLaws planted_thread_laws() {
  ThreadLaws laws;
  laws.heavy = {0.1, 5e-6};
  laws.light = {0.7, 1e-5};
  laws.dispatch_seconds = 2e-6;
  laws.handover_seconds = 2e-5;
  laws.sharing = ThreadSharing::shared;
  laws.thread_spin = 0.6;
  laws.pool_spin = 1;
  laws.crowding = 2.5;
  return laws;
}

TEST(ThreadLawFit, PlantedLawsAreFoundAgain) {
  const auto fit = fit_thread_laws(thread_campaign(planted_thread_laws()), 4);
  EXPECT_NEAR(fit.laws.heavy.serial, 0.1, 1e-6);
  EXPECT_NEAR(fit.laws.heavy.fork_seconds, 5e-6, 1e-9);
  EXPECT_NEAR(fit.laws.light.serial, 0.7, 1e-6);
  EXPECT_NEAR(fit.laws.light.fork_seconds, 1e-5, 1e-9);
  EXPECT_NEAR(fit.laws.thread_spin, 0.6, 1e-6);
  EXPECT_NEAR(fit.laws.pool_spin, 1, 0.05);
  EXPECT_NEAR(fit.laws.handover_seconds, 2e-5, 2e-6) << "steps of 10 %";
  EXPECT_NEAR(fit.laws.crowding, 2.5, 0.3) << "as far as the time to hand over is known";
  EXPECT_EQ(fit.laws.most_at_once, std::nullopt);
  for (const auto& point : fit.points) EXPECT_NEAR(point.predicted_seconds / point.measured_seconds, 1, 0.01);
}

TEST(ThreadLawFit, AFrameworkThatRunsOneOperatorAtATimeIsKnown) {
  auto laws = planted_thread_laws();
  laws.most_at_once = 1;
  const auto fit = fit_thread_laws(thread_campaign(laws), 4);
  EXPECT_EQ(fit.laws.most_at_once, 1);
  EXPECT_NEAR(fit.laws.handover_seconds, 2e-5, 2e-6);
}

TEST(ThreadLawFit, AGainWithinWhatProcessesDifferByIsNone) {
  auto measured = thread_campaign(planted_thread_laws());
  measured[3].seconds = 0.95 * measured[0].seconds;  // two pools
  EXPECT_EQ(fit_thread_laws(measured, 4).laws.most_at_once, 1);
  measured[3].seconds = 0.8 * measured[0].seconds;
  EXPECT_EQ(fit_thread_laws(measured, 4).laws.most_at_once, std::nullopt);
}

TEST(ThreadLawFit, OperatorsThatThreadsOnlySlowDownAreSerial) {
  auto measured = thread_campaign(planted_thread_laws());
  for (auto& step : measured) {
    if (step.setting.intra_op == 1) continue;
    double sum = 0;
    for (std::size_t i = 0; i < step.times.operators.size(); ++i) {
      auto& op = step.times.operators[i];
      // Light ones take 30 us and a tenth more on several threads.
      if (!op.heavy) op.seconds = 1.1 * measured.front().times.operators[i].seconds + 3e-5;
      sum += op.seconds + measured.front().times.dispatch_seconds;
    }
    step.seconds = sum;
  }
  const auto light = fit_thread_laws(measured, 4).laws.light;
  EXPECT_EQ(light.serial, 1);
  // They last from 0.3 to 1.6 ms, 0.95 on average: a tenth of that, and 30 us.
  EXPECT_NEAR(light.fork_seconds, 0.1 * 0.95e-3 + 3e-5, 1e-7);
}

TEST(ThreadLawFit, WithoutCpuTimesNothingSpins) {
  auto measured = thread_campaign(planted_thread_laws());
  for (auto& step : measured) step.cpus.reset();
  const auto fit = fit_thread_laws(measured, 4);
  EXPECT_EQ(fit.laws.thread_spin, 0);
  EXPECT_EQ(fit.laws.pool_spin, 0);
}

TEST(ThreadLawFit, OneThreadAloneIsRefused) {
  EXPECT_THROW(fit_thread_laws({planted_setting(planted_thread_laws(), {1, 1, {}})}, 1), Error);
}

network::Graph small_graph() {
  network::Graph graph;
  graph.name = "small";
  graph.inputs = {{"image", {3, 8, 8}, network::InputType::real, {}}};
  network::Node conv{"conv", network::Op::convolution, {"image"}, {}, {}, {}};
  conv.attributes.channels = 4;
  conv.attributes.kernel = conv.attributes.stride = {{1, 1}};
  conv.attributes.padding = {{0, 0}};
  conv.attributes.groups = 1;
  conv.attributes.bias = true;
  graph.nodes = {conv,
                 {"relu", network::Op::relu, {"conv"}, {}, {}, {}},
                 {"tanh", network::Op::tanh, {"relu"}, {}, {}, {}},
                 {"sum", network::Op::add, {"tanh", "relu"}, {}, {}, {}}};
  graph.output = "sum";
  graph.loss = network::Loss::mean_square;
  network::complete(graph);
  return graph;
}

TEST(OperatorTimes, WhatIsJoinedWithAConvolutionIsHeavy) {
  const auto times = operator_times(small_graph(), {{"relu", 3e-3}, {"tanh", 1e-3}, {"sum", 1e-3}}, 8e-3);
  ASSERT_EQ(times.operators.size(), 4U);
  EXPECT_EQ(times.operators[0].seconds, 0);
  EXPECT_TRUE(times.operators[1].heavy) << "the convolution has no time of its own";
  EXPECT_FALSE(times.operators[2].heavy);
  EXPECT_FALSE(times.operators[3].heavy) << "the relu before it took time by itself";
  EXPECT_THAT(times.operators[0].after, testing::IsEmpty());
  EXPECT_THAT(times.operators[3].after, testing::ElementsAre(2, 1));
  EXPECT_DOUBLE_EQ(times.dispatch_seconds, 1e-3) << "3 ms beyond the sum, before three operators";
}

TEST(OperatorTimes, TimesBeyondTheStepAreScaledToIt) {
  const auto times = operator_times(small_graph(), {{"conv", 2.0}, {"tanh", 6.0}}, 4);
  EXPECT_DOUBLE_EQ(times.operators[0].seconds, 1);
  EXPECT_DOUBLE_EQ(times.operators[2].seconds, 3);
  EXPECT_EQ(times.dispatch_seconds, 0);
}

TEST(OperatorTimes, WithoutAnyTimeItIsRefused) {
  EXPECT_THROW(operator_times(small_graph(), {}, 1), Error);
}

}  // namespace
}  // namespace assay::predict
