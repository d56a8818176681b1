#include "assay/predict/training/training.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/predict/models/catalogue.hpp"

namespace assay::predict {
namespace {

using testing::HasSubstr;

constexpr const char* kCluster = R"(name: ours
nodes: 8
devices_per_node: 8
device: {name: h100}
inside: {latency: 3 us, bandwidth: 360 GB/s}
across: {latency: 6 us, bandwidth: 400 Gbit/s, per: device}
prices: {device: 2, node: 3, network: 1}
power: {idle_watts: 100, busy_watts: 700, node_watts: 1000, network_watts: 200, cooling: 1.25}
carbon_grams_per_kwh: 400
failures: {device: 6400 h, node: 800 h}
)";

constexpr const char* kTraining = R"(name: small
stages:
  - {tokens: 10B, sequence: 4096, batch: 128}
  - {tokens: 2B, sequence: 8192, batch: 64, devices: 32, split: {tensor: 2, shard: 16, recompute: full}}
checkpoint: {time: 30 s}
restart: 5 m
spare_nodes: 1
repair: 2 h
)";

TrainingQuestion question_of(const std::string& training) {
  return {model_named("llama3-8b"),
          parse_cluster(kCluster, "c.yaml"),
          parse_training(training, "t.yaml"),
          StepPlan{},
          kUsualReserve,
          1};
}

std::string refusal_of_training(const std::string& text) {
  try {
    static_cast<void>(plan_training(question_of(text), StepBasis()));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Costs, AreThoseOfPartsNodesAndCooling) {
  const auto cluster = parse_cluster(kCluster, "c.yaml");
  // 8 devices at 2, a node at 3 and its network at 1.
  EXPECT_DOUBLE_EQ(*cluster.price_per_hour, 20);
  // 64 / 6400 h + 8 / 800 h = .02 an hour.
  EXPECT_NEAR(failures_per_second(cluster) * 3600, .02, 1e-12);
  TrainingTime time;
  time.seconds = 10 * 3600;
  time.useful_seconds = 8 * 3600;
  const auto bill = bill_of(cluster, 2, time, .75);
  EXPECT_DOUBLE_EQ(bill.device_hours, 800);  // 10 nodes of 8 devices, 10 h
  EXPECT_DOUBLE_EQ(*bill.price, 2000);
  // Busy: 64 devices x 600 W x .75 x 8 h = 230.4 kWh. Always: 10 nodes x (800 + 1200) W x 10 h = 200 kWh. x 1.25.
  EXPECT_NEAR(*bill.energy_kwh, 1.25 * 430.4, 1e-9);
  EXPECT_NEAR(*bill.carbon_kg, 1.25 * 430.4 * .4, 1e-9);
}

TEST(Costs, WhatTheFileDoesNotStateIsNotThere) {
  auto cluster = parse_cluster(kCluster, "c.yaml");
  cluster.power.reset();
  cluster.price_per_hour.reset();
  const auto bill = bill_of(cluster, 0, {}, 1);
  EXPECT_FALSE(bill.price || bill.energy_kwh || bill.carbon_kg);
}

TEST(Training, AddsUpItsStages) {
  const auto plan = plan_training(question_of(kTraining), StepBasis());
  ASSERT_EQ(plan.stages.size(), 2u);
  EXPECT_TRUE(plan.stages[0].searched);
  EXPECT_FALSE(plan.stages[1].searched);
  EXPECT_EQ(plan.stages[0].devices, 64);
  EXPECT_EQ(plan.stages[1].devices, 32);
  // Tensor 2 of 32 devices: data 16, 64 / 16 microbatches of one sequence.
  EXPECT_EQ(plan.stages[1].best.split.data, 16);
  EXPECT_EQ(plan.stages[1].best.split.microbatches, 4);
  double hours = 0;
  double price = 0;
  for (const auto& stage : plan.stages) {
    const double work = stage.tokens / stage.best.tokens_per_second;
    EXPECT_NEAR(stage.time.useful_seconds, work, 1e-6 * work);
    hours += stage.bill.hours;
    price += *stage.bill.price;
  }
  EXPECT_NEAR(plan.bill.hours, hours, 1e-9 * hours);
  EXPECT_NEAR(*plan.bill.price, price, 1e-9 * price);
  // 9 and 5 nodes with the spare, at 20 an hour.
  EXPECT_NEAR(price, 20 * (9 * plan.stages[0].bill.hours + 5 * plan.stages[1].bill.hours), 1e-6 * price);
  EXPECT_LT(plan.low.hours, plan.bill.hours);
  EXPECT_GT(plan.high.hours, plan.bill.hours);
  EXPECT_NEAR(plan.simulated_seconds / plan.time.seconds, 1, .02);
  EXPECT_FALSE(plan.goodputs.empty());
  EXPECT_FALSE(plan.assumptions.empty());
}

TEST(Training, SaysWhichStatedSplitsAreTightOrDoNotFit) {
  // On each of 64 devices 8.03 billion parameters of 16 bytes take 128 GB, unsharded. Over 16 devices and with tensor 2
  // the states are 4 GB, and values of the output layer 14 x 8192 x 128256 / 2 = 7.4 GB: more than a tenth of 80 GiB.
  const std::string stages =
      "stages:\n"
      "  - {tokens: 1B, sequence: 8192, batch: 64, split: {recompute: full}}\n"
      "  - {tokens: 1B, sequence: 8192, batch: 64, split: {tensor: 2, shard: 16, recompute: full}}\n"
      "checkpoint: {time: 30 s}\n";
  auto question = question_of(stages);
  question.reserve = .9;
  const auto said = plan_training(question, StepBasis()).assumptions;
  EXPECT_THAT(said, testing::Contains(testing::AllOf(HasSubstr("Stage 1 takes up to"), HasSubstr("it would not fit"))));
  EXPECT_THAT(said, testing::Contains(testing::AllOf(HasSubstr("Stage 2 takes up to"),
                                                     HasSubstr("of a device's 80 GiB"), HasSubstr("the 90 % of"))));
}

TEST(Training, DaysOfTheCalendarHoldAllFailuresAndTheGoodput) {
  auto question = question_of(kTraining);
  question.file.stages.pop_back();
  question.file.stages[0].tokens = 300e9;
  const auto plan = plan_training(question, StepBasis());
  ASSERT_GT(plan.calendar.size(), 5u);
  double useful = 0;
  for (const auto& day : plan.calendar) {
    EXPECT_GE(day.goodput, 0);
    EXPECT_LE(day.goodput, 1);
    useful += day.goodput * 86400;
  }
  EXPECT_NEAR(useful / plan.time.useful_seconds, 1, .01);
}

TEST(Training, AClusterThatIsTwiceAsDearCostsTwiceInTheSameTime) {
  auto dear = question_of(kTraining);
  *dear.cluster.price_per_hour *= 2;
  dear.cluster.name = "dear";
  const auto said = plan_trainings({question_of(kTraining), dear}, StepBasis());
  ASSERT_EQ(said.ratios.size(), 1u);
  EXPECT_NEAR(said.ratios[0].hours, 1, 1e-12);
  EXPECT_NEAR(said.ratios[0].hours_high, 1, 1e-12);  // the same device and step: all errors are shared
  EXPECT_NEAR(*said.ratios[0].price, 2, 1e-12);
}

TEST(Training, SaysWhereAFileIsWrongAndWhatToWrite) {
  EXPECT_THAT(refusal_of_training("name: x\n"), HasSubstr("t.yaml:1:1: training needs stages. Add, for example"));
  EXPECT_THAT(refusal_of_training("stages: []\n"), HasSubstr("stages: write a list of 1 to 100 stages here."));
  EXPECT_THAT(refusal_of_training("stages:\n  - {tokens: many, sequence: 1, batch: 1}\n"),
              HasSubstr("t.yaml:2:14: stage.tokens: 'many' is not a number of tokens."));
  EXPECT_THAT(refusal_of_training("stages:\n  - {tokens: 1B, sequence: 8192, batch: 8, split: {tenser: 2}}\n"),
              HasSubstr("split: the key 'tenser' is not known. Did you mean 'tensor'?"));
  EXPECT_THAT(refusal_of_training("stages:\n  - {tokens: 1B, sequence: 8192, batch: 64, split: {tensor: 3}}\n"
                                  "checkpoint: {time: 1 s}\n"),
              HasSubstr("stage 1: tensor 3 x pipeline 1 x context 1 do not divide 64 devices."));
  EXPECT_THAT(refusal_of_training("devices: 56\nstages:\n  - {tokens: 1B, sequence: 8192, batch: 64}\n"
                                  "checkpoint: {time: 1 s}\n"),
              HasSubstr("stage 1 of t.yaml: 56 devices cannot be split"));
  EXPECT_THAT(refusal_of_training("stages:\n  - {tokens: 1B, sequence: 8192, batch: 64}\n"),
              HasSubstr("how long a checkpoint takes is not known"));
  EXPECT_THAT(refusal_of_training("stages:\n  - {tokens: 1B, sequence: 8192, batch: 64}\nspare_nodes: 1\n"),
              HasSubstr("spare_nodes and repair belong together"));
}

TEST(Training, TokensAreReadAsPeopleWriteThem) {
  EXPECT_DOUBLE_EQ(parse_tokens("15.6T", "x"), 15.6e12);
  EXPECT_DOUBLE_EQ(parse_tokens("300 B", "x"), 300e9);
  EXPECT_DOUBLE_EQ(parse_tokens("1e9", "x"), 1e9);
  for (const char* bad : {"", "T", "0", "-1B", "nan", "inf", "1 trillion", "1e30T"}) {
    EXPECT_THROW(static_cast<void>(parse_tokens(bad, "x")), Error) << bad;
  }
}

PlanQuestion plan_question(std::vector<std::int64_t> devices) {
  PlanQuestion q;
  q.model = model_named("llama3-8b");
  q.clusters = {parse_cluster(kCluster, "c.yaml")};
  q.devices = std::move(devices);
  q.global_batch = 128;
  q.practice.sequence = 8192;
  q.tokens = 1e12;
  return q;
}

TEST(PlanSearch, AnIndivisibleSizeIsARowWithItsReason) {
  const auto said = search_plans(plan_question({8, 12, 32, 56, 128}), StepBasis());
  ASSERT_EQ(said.points.size(), 5u);
  EXPECT_TRUE(said.points[0].best);
  EXPECT_THAT(said.points[1].reason, HasSubstr("12"));  // no whole nodes
  EXPECT_TRUE(said.points[2].best);
  EXPECT_THAT(said.points[3].reason, HasSubstr("56 devices cannot be split"));  // 7 divides neither heads nor batch
  EXPECT_FALSE(said.points[4].best);                                            // more than there are
  EXPECT_TRUE(said.chosen);
}

TEST(PlanSearch, LimitsChooseTheCheapestInTimeOrTheFastestForThePrice) {
  auto q = plan_question({8, 16, 32, 64});
  const auto all = search_plans(q, StepBasis());
  for (const auto& point : all.points) {
    ASSERT_TRUE(point.best);
    EXPECT_TRUE(point.within_limits);
  }
  EXPECT_EQ(all.points[static_cast<std::size_t>(*all.chosen)].devices, 64);  // the fastest
  q.within_seconds = 1.01 * 3600 * all.points[2].bill->hours;
  const auto timely = search_plans(q, StepBasis());
  ASSERT_TRUE(timely.chosen);
  const auto& cheapest = timely.points[static_cast<std::size_t>(*timely.chosen)];
  for (const auto& point : timely.points) {
    EXPECT_EQ(point.within_limits, 3600 * point.bill->hours <= *q.within_seconds);
    if (point.within_limits) {
      EXPECT_LE(*cheapest.bill->price, *point.bill->price);
    }
  }
  EXPECT_FALSE(timely.points[0].within_limits);
  q.most_price = 1;
  const auto none = search_plans(q, StepBasis());
  EXPECT_FALSE(none.chosen);
  EXPECT_EQ(none.choice, "No number of devices is within the limits.");
  q.tokens.reset();
  EXPECT_THROW(static_cast<void>(search_plans(q, StepBasis())), Error);
}

TEST(PlanSearch, TheFrontHasEveryPointThatNoOtherBeats) {
  const auto said = search_plans(plan_question({8, 16, 32, 64}), StepBasis());
  for (const auto& point : said.points) {
    bool beaten = false;
    for (const auto& other : said.points) {
      const bool as_good = other.bill->hours <= point.bill->hours && *other.bill->price <= *point.bill->price &&
                           other.devices <= point.devices;
      beaten = beaten || (&other != &point && as_good && other.bill->hours < point.bill->hours);
    }
    EXPECT_EQ(point.on_front, !beaten) << point.devices;
  }
  EXPECT_TRUE(said.points[0].on_front);  // nothing has fewer devices
}

}  // namespace
}  // namespace assay::predict
