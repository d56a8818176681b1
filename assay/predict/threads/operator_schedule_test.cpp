#include "assay/predict/threads/operator_schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "assay/core/error.hpp"

namespace assay::predict {
namespace {

/// Products that scale perfectly and cost nothing besides: times can be added up by hand.
const ThreadLaws kPerfectThreads{};

std::vector<OperatorTime> one_product(double seconds) {
  return {{"product", true, seconds, {}}};
}

/// `chains` of `length` products of one second each, none of which needs another chain.
std::vector<OperatorTime> independent_chains(std::size_t chains, std::size_t length) {
  std::vector<OperatorTime> operators;
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t c = 0; c < chains; ++c) {
      operators.push_back({"", true, 1, {}});
      if (i > 0) operators.back().after = {operators.size() - 1 - chains};
    }
  }
  return operators;
}

double scheduled_seconds(const std::vector<OperatorTime>& operators, const ThreadLaws& laws, std::int64_t cores,
                         const ThreadSetting& setting) {
  return schedule_step(operators, laws, {cores, {}}, setting).seconds;
}

TEST(OperatorSchedule, OneOperatorFollowsAmdahlsLaw) {
  ThreadLaws laws;
  laws.heavy = {0.2, 0.05};
  // 0.2 + 0.8 / 4 + 0.05; one thread starts no others.
  EXPECT_DOUBLE_EQ(scheduled_seconds(one_product(1), laws, 8, {1, 4, {}}), 0.45);
  EXPECT_DOUBLE_EQ(scheduled_seconds(one_product(1), laws, 8, {1, 1, {}}), 1.0);
}

TEST(OperatorSchedule, LightOperatorsHaveALawOfTheirOwn) {
  ThreadLaws laws;
  laws.light = {0.5, 0};
  EXPECT_DOUBLE_EQ(scheduled_seconds({{"relu", false, 1, {}}}, laws, 8, {1, 2, {}}), 0.75);
  EXPECT_DOUBLE_EQ(scheduled_seconds(one_product(1), laws, 8, {1, 2, {}}), 0.5);
}

TEST(OperatorSchedule, IndependentChainsShareThePools) {
  const auto operators = independent_chains(4, 3);  // 12 seconds of work, no chain shorter than 3
  EXPECT_DOUBLE_EQ(scheduled_seconds(operators, kPerfectThreads, 8, {1, 1, {}}), 12);
  EXPECT_DOUBLE_EQ(scheduled_seconds(operators, kPerfectThreads, 8, {2, 1, {}}), 6);
  EXPECT_DOUBLE_EQ(scheduled_seconds(operators, kPerfectThreads, 8, {4, 1, {}}), 3);
  EXPECT_DOUBLE_EQ(scheduled_seconds(operators, kPerfectThreads, 8, {8, 1, {}}), 3) << "the chain is the bound";
  EXPECT_DOUBLE_EQ(scheduled_seconds(operators, kPerfectThreads, 8, {4, 2, {}}), 1.5);
}

TEST(OperatorSchedule, PoolsBeyondTheChainsStayIdle) {
  // Three chains on two pools: the first two end their products at 1, 2, …; nine seconds of work on two pools would be
  // 4.5, but the last product has no other beside it: 5.
  EXPECT_DOUBLE_EQ(scheduled_seconds(independent_chains(3, 3), kPerfectThreads, 8, {2, 1, {}}), 5);
}

TEST(OperatorSchedule, AnOperatorWaitsForAllBeforeIt) {
  // A diamond: 1, then 2 beside 5, then 1.
  const std::vector<OperatorTime> diamond{
      {"in", true, 1, {}}, {"short", true, 2, {0}}, {"long", true, 5, {0}}, {"out", true, 1, {1, 2}}};
  EXPECT_DOUBLE_EQ(scheduled_seconds(diamond, kPerfectThreads, 2, {2, 1, {}}), 7);
  EXPECT_DOUBLE_EQ(scheduled_seconds(diamond, kPerfectThreads, 2, {1, 1, {}}), 9);
  EXPECT_DOUBLE_EQ(critical_seconds(diamond), 7);
}

TEST(OperatorSchedule, AnOutputThatIsUsedTwiceIsWaitedForOnce) {
  EXPECT_DOUBLE_EQ(scheduled_seconds({{"in", true, 1, {}}, {"twice", true, 1, {0, 0}}}, kPerfectThreads, 2, {2, 1, {}}),
                   2);
}

TEST(OperatorSchedule, WhatWasJoinedWithAnotherCostsNothingAndKeepsTheOrder) {
  ThreadLaws laws;
  laws.dispatch_seconds = 0.5;
  const std::vector<OperatorTime> joined{{"convolution", true, 0, {}},
                                         {"norm", false, 0, {0}},
                                         {"relu", false, 2, {1}},
                                         {"norm2", false, 0, {2}},
                                         {"product", true, 1, {3}}};
  // Two operators, each after half a second.
  EXPECT_DOUBLE_EQ(scheduled_seconds(joined, laws, 2, {1, 1, {}}), 4);
}

TEST(OperatorSchedule, SeveralPoolsPayForHandingOver) {
  ThreadLaws laws;
  laws.dispatch_seconds = 0.1;
  laws.handover_seconds = 0.5;
  const auto operators = independent_chains(2, 2);
  EXPECT_DOUBLE_EQ(scheduled_seconds(operators, laws, 2, {1, 1, {}}), 4.4);
  EXPECT_DOUBLE_EQ(scheduled_seconds(operators, laws, 2, {2, 1, {}}), 3.2);
}

TEST(OperatorSchedule, MoreThreadsThanCoresShareThem) {
  // Each of two operators has four threads of its own: 0.25 s each on eight cores, four times as long on two.
  EXPECT_DOUBLE_EQ(scheduled_seconds(independent_chains(2, 1), kPerfectThreads, 8, {2, 4, {}}), 0.25);
  EXPECT_DOUBLE_EQ(scheduled_seconds(independent_chains(2, 1), kPerfectThreads, 2, {2, 4, {}}), 1);
}

TEST(OperatorSchedule, ASharedPoolHelpsAllThatRun) {
  ThreadLaws laws;
  laws.sharing = ThreadSharing::shared;
  // Two operators, and two threads beside their own: two each.
  EXPECT_DOUBLE_EQ(scheduled_seconds(independent_chains(2, 1), laws, 8, {2, 3, {}}), 0.5);
  // An operator alone has both: three threads.
  EXPECT_DOUBLE_EQ(scheduled_seconds(one_product(3), laws, 8, {2, 3, {}}), 1);
}

TEST(OperatorSchedule, APoolThatSpinsTakesACoreFromTheOneThatWorks) {
  ThreadLaws laws;
  laws.pool_spin = 1;
  // One operator alone, the thread of another pool beside it: two cores have room for both, one has not.
  EXPECT_DOUBLE_EQ(scheduled_seconds(one_product(1), laws, 2, {2, 1, {}}), 1);
  EXPECT_DOUBLE_EQ(scheduled_seconds(one_product(1), laws, 1, {2, 1, {}}), 2);
  laws.pool_spin = 0.5;
  EXPECT_DOUBLE_EQ(scheduled_seconds(one_product(1), laws, 1, {2, 1, {}}), 1.5);
}

TEST(OperatorSchedule, CrowdedThreadsWaitForTheSlowest) {
  ThreadLaws laws;
  laws.pool_spin = 1;
  laws.crowding = 2;
  laws.sharing = ThreadSharing::shared;
  // Two threads compute, a third spins: each gets two thirds of a core, and 1 s becomes 1.5^2. One that computes alone
  // beside one that spins has a core.
  EXPECT_DOUBLE_EQ(scheduled_seconds(one_product(2), laws, 2, {2, 2, {}}), 2.25);
  EXPECT_DOUBLE_EQ(scheduled_seconds(one_product(2), laws, 2, {2, 1, {}}), 2);
  // Even shares for one thread, crowding or not.
  EXPECT_DOUBLE_EQ(scheduled_seconds(one_product(1), laws, 1, {2, 1, {}}), 2);
}

TEST(OperatorSchedule, AFrameworkThatRunsOneAtATimeGainsNothingFromPools) {
  ThreadLaws laws;
  laws.most_at_once = 1;
  laws.pool_spin = 1;
  const auto played = schedule_step(independent_chains(2, 2), laws, {8, {}}, {2, 1, {}});
  EXPECT_DOUBLE_EQ(played.seconds, 4);
  EXPECT_DOUBLE_EQ(played.cpu_seconds, 8) << "the other pool spins all the while";
}

TEST(OperatorSchedule, AQuotaStretchesTheStepToItsCpuTime) {
  // Two cores for one second: 2 CPU seconds.
  const auto quartered = schedule_step(one_product(2), kPerfectThreads, {2, {}}, {1, 2, 0.5});
  EXPECT_DOUBLE_EQ(quartered.cpu_seconds, 2);
  EXPECT_DOUBLE_EQ(quartered.seconds, 4);
  EXPECT_DOUBLE_EQ(scheduled_seconds(one_product(2), kPerfectThreads, 2, {1, 2, 2.0}), 1);
  EXPECT_DOUBLE_EQ(scheduled_seconds(one_product(2), kPerfectThreads, 2, {1, 1, 1.0}), 2);
}

TEST(OperatorSchedule, SpinningUsesUpAQuota) {
  ThreadLaws laws;
  laws.light = {1, 0};  // no gain from a second thread
  laws.thread_spin = 1;
  const std::vector<OperatorTime> light{{"relu", false, 1, {}}};
  EXPECT_DOUBLE_EQ(scheduled_seconds(light, laws, 2, {1, 2, 1.0}), 2);
  laws.thread_spin = 0;
  EXPECT_DOUBLE_EQ(scheduled_seconds(light, laws, 2, {1, 2, 1.0}), 1);
}

TEST(OperatorSchedule, MemoryBoundsLightOperatorsTogether) {
  const std::vector<OperatorTime> light{{"a", false, 6, {}}, {"b", false, 6, {}}};
  // Twelve core-seconds of them at three cores' worth; products are not held back.
  EXPECT_DOUBLE_EQ(schedule_step(light, kPerfectThreads, {24, 3.0}, {2, 12, {}}).seconds, 4);
  EXPECT_DOUBLE_EQ(schedule_step(one_product(12), kPerfectThreads, {24, 3.0}, {1, 12, {}}).seconds, 1);
}

/// Whatever the graph: never below the longest chain or the work over the pools, and with one pool the sum.
TEST(OperatorSchedule, RandomGraphsKeepTheBounds) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<OperatorTime> operators(std::uniform_int_distribution<std::size_t>(1, 40)(random));
    double sum = 0;
    for (std::size_t i = 0; i < operators.size(); ++i) {
      operators[i].heavy = true;
      operators[i].seconds = std::uniform_real_distribution<double>(0, 1)(random);
      sum += operators[i].seconds;
      for (std::size_t before = 0; before < i; ++before) {
        if (random() % 8 == 0) operators[i].after.push_back(before);
      }
    }
    const double chain = critical_seconds(operators);
    EXPECT_NEAR(scheduled_seconds(operators, kPerfectThreads, 8, {1, 1, {}}), sum, 1e-9);
    for (const std::int64_t pools : {2, 3, 8}) {
      const double seconds = scheduled_seconds(operators, kPerfectThreads, 8, {pools, 1, {}});
      EXPECT_GE(seconds, std::max(chain, sum / static_cast<double>(pools)) - 1e-9);
      // Graham 1966: no list is worse than this.
      const auto p = static_cast<double>(pools);
      EXPECT_LE(seconds, sum / p + (1 - 1 / p) * chain + 1e-9);
    }
  }
}

TEST(OperatorSchedule, NumbersOutsideTheirRangeAreRefused) {
  EXPECT_THROW(scheduled_seconds(one_product(1), kPerfectThreads, 2, {0, 1, {}}), Error);
  EXPECT_THROW(scheduled_seconds(one_product(1), kPerfectThreads, 2, {1, 0, {}}), Error);
  EXPECT_THROW(scheduled_seconds(one_product(1), kPerfectThreads, 2, {1, 1, 0.0}), Error);
}

TEST(OperatorSchedule, LawsOutsideTheirRangeAreRefused) {
  ThreadLaws laws;
  EXPECT_NO_THROW(check(laws));
  laws.light.serial = 1.5;
  EXPECT_THROW(check(laws), Error);
  laws.light.serial = 0;
  laws.most_at_once = 0;
  EXPECT_THROW(check(laws), Error);
}

TEST(OperatorSchedule, TheFastestIsChosenAndOfEqualOnesThatWithTheFewestThreads) {
  const std::vector<ThreadPrediction> predictions{
      {{4, 4, {}}, 1.0, 0}, {{1, 2, {}}, 1.0005, 0}, {{1, 1, {}}, 1.1, 0}, {{2, 2, {}}, 1.0, 0}};
  EXPECT_EQ(fastest_setting(predictions), 1U);
}

}  // namespace
}  // namespace assay::predict
