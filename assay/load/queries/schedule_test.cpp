#include "assay/load/queries/schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace assay::load;

Arrivals arrivals(ArrivalKind kind, double rate, double seconds) {
  Arrivals a;
  a.kind = kind;
  a.rate_per_second = rate;
  a.duration_seconds = seconds;
  a.input_words = 10;
  a.output_tokens = 5;
  return a;
}

TEST(Schedule, ConstantArrivalsAreAtEqualDistances) {
  // 4 a second for 1 s: at 250, 500 and 750 ms; the one at 1 s is no longer in it.
  const auto schedule = draw_schedule(arrivals(ArrivalKind::constant, 4, 1));
  ASSERT_EQ(schedule.size(), 3U);
  EXPECT_EQ(schedule[0].due_ns, 250'000'000);
  EXPECT_EQ(schedule[2].due_ns, 750'000'000);
}

TEST(Schedule, PoissonGapsHaveTheMeanAndVarianceOfAnExponential) {
  const auto schedule = draw_schedule(arrivals(ArrivalKind::poisson, 1000, 100));
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 1; i < schedule.size(); ++i) {
    const auto gap = static_cast<double>(schedule[i].due_ns - schedule[i - 1].due_ns) * 1e-9;
    sum += gap;
    squares += gap * gap;
  }
  const auto n = static_cast<double>(schedule.size() - 1);
  // Of 100,000 gaps with mean 1 ms the mean is within 4 deviations, 4 / sqrt(100,000) = 1.3 %; E X^2 = 2 mean^2.
  EXPECT_NEAR(sum / n, 1e-3, 1.3e-5);
  EXPECT_NEAR(squares / n, 2e-6, 6e-8);
}

TEST(Schedule, TheSameSeedGivesTheSameTimesAndAnotherGivesOthers) {
  auto a = arrivals(ArrivalKind::poisson, 100, 1);
  const auto first = draw_schedule(a);
  const auto again = draw_schedule(a);
  a.seed = 2;
  const auto other = draw_schedule(a);
  ASSERT_EQ(first.size(), again.size());
  EXPECT_EQ(first.back().due_ns, again.back().due_ns);
  EXPECT_NE(first.front().due_ns, other.front().due_ns);
}

TEST(Schedule, WhatIsDueInTheWarmUpIsMarked) {
  auto a = arrivals(ArrivalKind::constant, 10, 1);
  a.warm_up_seconds = 0.55;
  const auto schedule = draw_schedule(a);
  // At .1, .2, … 1.5: the first five are before .55.
  ASSERT_EQ(schedule.size(), 15U);
  EXPECT_TRUE(schedule[4].warm_up);
  EXPECT_FALSE(schedule[5].warm_up);
}

TEST(Schedule, ANumberOfRequestsCountsWithoutTheWarmUp) {
  auto a = arrivals(ArrivalKind::constant, 10, 0);
  a.warm_up_seconds = 0.55;
  a.requests = 7;
  EXPECT_EQ(draw_schedule(a).size(), 12U);
}

TEST(Schedule, BurstsArriveAtTheSameTimeAtTheSameMeanRate) {
  auto a = arrivals(ArrivalKind::bursts, 1000, 100);
  a.burst = 4;
  const auto schedule = draw_schedule(a);
  EXPECT_EQ(schedule[0].due_ns, schedule[3].due_ns);
  EXPECT_NE(schedule[3].due_ns, schedule[4].due_ns);
  // 25,000 bursts: 4 deviations are 2.5 %.
  EXPECT_NEAR(static_cast<double>(schedule.size()), 100'000, 2600);
}

TEST(Schedule, TurnsOfAConversationShareATextThatGrows) {
  auto a = arrivals(ArrivalKind::conversations, 10, 20);
  a.turns = 3;
  a.turn_gap_seconds = 0.5;
  const auto schedule = draw_schedule(a);
  std::map<std::int64_t, std::vector<Arrival>> by_text;
  for (const auto& one : schedule) by_text[one.text].push_back(one);
  const auto& first = by_text.begin()->second;
  ASSERT_EQ(first.size(), 3U);
  EXPECT_EQ(first[1].due_ns - first[0].due_ns, 500'000'000);
  EXPECT_EQ(first[0].input_words, 10);
  EXPECT_EQ(first[2].input_words, 30);
}

TEST(Schedule, AScheduleWithoutRequestsIsRefused) {
  EXPECT_THROW(draw_schedule(arrivals(ArrivalKind::constant, 1, 0.5)), assay::Error);
}

TEST(Trace, ColumnsAreFoundByNameAndTimesBeginAtZero) {
  const auto rows = parse_trace("model,output,seconds,input\nx,7,5.5,100\ny,8,6,200\n");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].seconds, 0);
  EXPECT_EQ(rows[1].seconds, 0.5);
  EXPECT_EQ(rows[1].input_words, 200);
  EXPECT_EQ(rows[0].output_tokens, 7);
}

TEST(Trace, WhatIsWrongIsNamedWithItsLine) {
  const auto message = [](const char* text) {
    try {
      parse_trace(text);
    } catch (const assay::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("seconds,input\n"), testing::HasSubstr("no column output"));
  EXPECT_THAT(message("seconds,input,output\n1,1\n"), testing::HasSubstr("line 2: 2 cells"));
  EXPECT_THAT(message("seconds,input,output\n1,1,1\n0,1,1\n"), testing::HasSubstr("line 3: seconds decrease"));
  EXPECT_THAT(message("seconds,input,output\nnan,1,1\n"), testing::HasSubstr("line 2: seconds"));
  EXPECT_THAT(message("seconds,input,output\n1,-1,1\n"), testing::HasSubstr("line 2: input"));
  EXPECT_THAT(message("seconds,input,output\n"), testing::HasSubstr("no request"));
}

}  // namespace
