#include "assay/load/queries/ledger.hpp"

#include <gtest/gtest.h>

#include "assay/load/queries/limits.hpp"
#include "assay/load/queries/point.hpp"
#include "assay/load/simulation.hpp"

namespace {

using namespace assay::load;

constexpr std::int64_t kMs = 1'000'000;

std::vector<Arrival> at_ms(const std::vector<std::int64_t>& times) {
  std::vector<Arrival> schedule;
  for (const auto time : times) schedule.push_back({time * kMs, 0, 0, 0, false});
  return schedule;
}

QueueServer server(std::int64_t workers, std::int64_t service_ms) {
  QueueServer one;
  one.workers = workers;
  one.service_ns = [service_ms](std::size_t) { return service_ms * kMs; };
  return one;
}

std::vector<double> latencies_ms(const Sent& sent, Since since) {
  std::vector<double> times;
  for (const auto& request : sent.requests) times.push_back(*time_ns(request, Metric::latency, since) / kMs);
  return times;
}

TEST(Ledger, WaitingForAConnectionCountsFromTheSchedule) {
  // One connection, 10 ms of service: due at 0, 1 and 2, begun at 0, 10 and 20, so ended 10, 19 and 28 after their
  // time.
  const auto sent = simulate_schedule(server(0, 10), at_ms({0, 1, 2}), {.connections = 1});
  EXPECT_EQ(latencies_ms(sent, Since::schedule), (std::vector<double>{10, 19, 28}));
  EXPECT_EQ(latencies_ms(sent, Since::send), (std::vector<double>{10, 10, 10}));
  EXPECT_EQ(sent.waited, 2);
}

TEST(Ledger, AQueueInTheServerIsInBothTimes) {
  const auto sent = simulate_schedule(server(1, 10), at_ms({0, 1, 2}), {});
  EXPECT_EQ(latencies_ms(sent, Since::schedule), (std::vector<double>{10, 19, 28}));
  EXPECT_EQ(latencies_ms(sent, Since::send), (std::vector<double>{10, 19, 28}));
  EXPECT_EQ(sent.waited, 0);
  EXPECT_EQ(sent.most_under_way, 3);
}

TEST(Ledger, APauseOfTheClientIsLatenessAndCounts) {
  // Asleep from 5 to 25: what is due at 10 is noticed at 25 and ends at 27.
  const auto sent = simulate_schedule(server(0, 2), at_ms({0, 10, 30}), {}, {5 * kMs, 20 * kMs});
  EXPECT_EQ(latencies_ms(sent, Since::schedule), (std::vector<double>{2, 17, 2}));
  EXPECT_EQ(lateness_ns(sent.requests[1]), 15 * kMs);
}

TEST(Ledger, AClosedLoopHidesAStallAndAnOpenOneShowsIt) {
  auto stalled = server(1, 1);
  stalled.stall_at_ns = 100 * kMs;
  stalled.stall_ns = 1000 * kMs;
  std::vector<std::int64_t> times;
  for (std::int64_t ms = 0; ms < 2000; ms += 2) times.push_back(ms);
  const auto open = latencies_ms(simulate_schedule(stalled, at_ms(times), {}), Since::schedule);
  const auto closed = latencies_ms(
      simulate_schedule(stalled, at_ms(std::vector<std::int64_t>(1000, 0)), {.clients = 1}), Since::schedule);
  // Open: 500 requests are due in the stall. Closed: one client waits for it, once.
  EXPECT_GT(std::count_if(open.begin(), open.end(), [](double ms) { return ms > 100; }), 400);
  EXPECT_EQ(std::count_if(closed.begin(), closed.end(), [](double ms) { return ms > 100; }), 1);
}

TEST(Ledger, WhatIsUnderWayAtTheEndIsPendingAndWhatWaitsIsUnsent) {
  Ledger ledger(at_ms({0, 1, 50}), {.connections = 1});
  ledger.notice(2 * kMs);
  ASSERT_EQ(ledger.take(), 0U);
  ASSERT_FALSE(ledger.take());
  ledger.close(10 * kMs);
  ASSERT_EQ(ledger.requests().size(), 2U);  // the third was not due
  EXPECT_EQ(ledger.requests()[0].outcome, RequestOutcome::pending);
  EXPECT_EQ(ledger.requests()[1].outcome, RequestOutcome::unsent);
}

TEST(Limits, AreReadAsPeopleWriteThem) {
  const auto limit = parse_limit("ttft p99<500ms");
  EXPECT_EQ(limit.metric, Metric::ttft);
  EXPECT_DOUBLE_EQ(limit.quantile, 0.99);
  EXPECT_DOUBLE_EQ(limit.limit_ns, 500e6);
  EXPECT_EQ(parse_limit("tpot p95 <= 60 ms").metric, Metric::tpot);
  for (const auto* wrong :
       {"", "p99<1s", "ttft<1s", "ttft p0<1s", "ttft p100<1s", "speed p99<1s", "ttft p99", "ttft p99<5"}) {
    EXPECT_THROW(parse_limit(wrong), assay::Error) << wrong;
  }
}

TEST(Limits, NeedEnoughRequestsForTheirQuantile) {
  const Limit limit{Metric::latency, 0.9, 10};
  EXPECT_EQ(judge(limit, std::vector<double>(63, 1)).verdict, LimitVerdict::too_few);
  EXPECT_EQ(judge(limit, std::vector<double>(64, 1)).verdict, LimitVerdict::holds);
  EXPECT_EQ(judge(limit, std::vector<double>(64, 11)).verdict, LimitVerdict::broken);
  EXPECT_EQ(judge(limit, {}).verdict, LimitVerdict::no_times);
}

TEST(Limits, TheSameShareInClustersDecidesLess) {
  // 40 of 1000 beyond a p90: P(Bin(1000, .1) <= 40) is far below 1 %. In one cluster they count as a few.
  std::vector<double> spread(1000, 1);
  std::vector<double> clustered(1000, 1);
  for (std::size_t i = 0; i < 100; ++i) {
    spread[i * 10 + 3] = i % 5 < 2 ? 11 : 2;
    clustered[500 + i] = i < 40 ? 11 : 2;
  }
  const Limit limit{Metric::latency, 0.9, 10};
  EXPECT_EQ(judge(limit, spread).verdict, LimitVerdict::holds);
  EXPECT_EQ(judge(limit, clustered).verdict, LimitVerdict::undecided);
  EXPECT_GT(judge(limit, clustered).design_effect, 10);
}

TEST(Point, FailedAndUnansweredRequestsAreBeyondEveryLimit) {
  Sent sent;
  for (int i = 0; i < 100; ++i) {
    Request request;
    request.due_ns = i * kMs;
    request.noticed_ns = request.sent_ns = request.due_ns;
    request.outcome = i % 2 == 0 ? RequestOutcome::ok : RequestOutcome::pending;
    if (i % 2 == 0) request.finished_ns = request.due_ns + kMs;
    sent.requests.push_back(request);
  }
  const auto point = summarise({}, sent, {{Metric::latency, 0.9, 1e9}}, 1e6);
  EXPECT_EQ(point.limits[0].over, 50);
  EXPECT_EQ(point.limits[0].verdict, LimitVerdict::broken);
  ASSERT_EQ(point.times.size(), 1U);
  EXPECT_EQ(point.times[0].from_schedule[0].ns, 1e6);
  EXPECT_FALSE(point.times[0].from_schedule[1].ns);  // p90 is among those that were not answered
}

TEST(Point, AStarvedClientGivesNoVerdict) {
  Sent sent;
  for (int i = 0; i < 1000; ++i) {
    Request request;
    request.due_ns = i * kMs;
    request.noticed_ns = request.sent_ns = request.due_ns;
    request.finished_ns = request.due_ns + kMs;
    request.outcome = RequestOutcome::ok;
    sent.requests.push_back(request);
  }
  ClientWindow window;
  window.end_ns = 500 * kMs;
  window.lateness_p99_ns = 2e6;
  sent.windows = {window, {500 * kMs, 1000 * kMs, 500, 0, 0, std::nullopt, 0}};
  const std::vector<Limit> limits{{Metric::latency, 0.9, 1e9}};
  EXPECT_EQ(summarise({}, sent, limits, 1e6).limits[0].verdict, LimitVerdict::generator_starved);
  EXPECT_EQ(summarise({}, sent, limits, 3e6).limits[0].verdict, LimitVerdict::holds);
}

TEST(Request, TimePerTokenIsByTheServersCountAndNotByChunks) {
  Request request;
  request.outcome = RequestOutcome::ok;
  request.first_token_ns = 100;
  request.last_token_ns = 400;
  request.chunks = 4;
  EXPECT_FALSE(time_ns(request, Metric::tpot));
  request.output_tokens = 16;
  EXPECT_DOUBLE_EQ(*time_ns(request, Metric::tpot), 20);  // 300 / 15
}

}  // namespace
