#include "assay/report/subjects/load/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/document_fixture.hpp"

namespace assay::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;

/// 100 requests at 50/s in which latency has a p90 of 20 ms from the schedule and of 18 ms from the send.
load::LoadPoint loaded_point() {
  load::LoadPoint point;
  point.arrivals.rate_per_second = 50;
  point.arrivals.requests = point.requests = 100;
  point.outcomes = {{load::RequestOutcome::ok, 100}};
  point.offered_per_second = 50;
  point.answered_per_second = 49;
  load::TimeSummary latency;
  latency.metric = load::Metric::latency;
  latency.from_schedule = {{0.5, 10e6, 9e6, 11e6, {}}, {0.9, 20e6, 19e6, {}, {}}};
  latency.from_send = {{0.5, 9e6, 8e6, 10e6, {}}, {0.9, 18e6, 17e6, {}, {}}};
  point.times = {latency};
  point.client.lateness_budget_ns = 1e6;
  point.client.lateness_p99_ns = 5e4;
  point.client.windows = 2;
  point.client.cpu_per_request_ns = 200e3;
  point.client.connections = point.client.most_under_way = 3;
  return point;
}

load::LoadResult loaded(std::vector<load::LoadPoint> points) {
  load::LoadResult result;
  result.server = "http://127.0.0.1:1/v1/completions";
  result.api = load::Api::completions;
  result.stream = true;
  result.points = std::move(points);
  return result;
}

TEST(LoadAnswer, OfOneRunHasItsTimesFromScheduleAndSend) {
  const auto document = load_document(loaded({loaded_point()}));
  EXPECT_THAT(headings_of(document), ElementsAre("http://127.0.0.1:1/v1/completions (completions, streamed)"));
  EXPECT_THAT(tables_of(document).at(0).rows(),
              ElementsAre(ElementsAre("latency", "schedule", "10 ms", "20 ms", "-", "-", "p90: 19 ms to ?"),
                          ElementsAre("latency", "send", "9 ms", "18 ms", "-", "-", "p90: 17 ms to ?")));
  EXPECT_THAT(
      paragraphs_of(document),
      ElementsAre("poisson at 50/s, 100 requests, seed 1", "100 requests: 100 ok", "offered 50/s, answered 49/s",
                  "client: p99 50 us late, 0 of 2 windows starved (budget 1 ms), 200 us of CPU a request"));
  EXPECT_THAT(items_of(document), ElementsAre("3 connections, at most 3 requests at once"));
}

TEST(LoadAnswer, ALimitHasItsVerdict) {
  auto point = loaded_point();
  load::JudgedLimit limit;
  limit.quantile = 0.9;
  limit.limit_ns = 30e6;
  limit.requests = 100;
  limit.verdict = load::LimitVerdict::holds;
  point.limits = {limit};
  limit.verdict = load::LimitVerdict::broken;
  limit.over = 50;
  point.limits.push_back(limit);
  EXPECT_THAT(paragraphs_of(load_document(loaded({point}))),
              IsSupersetOf({"latency p90 < 30 ms: HOLDS (0 of 100 requests over it)",
                            "latency p90 < 30 ms: BROKEN (50 of 100 requests over it)"}));
}

TEST(LoadAnswer, OfSeveralRatesIsARowForEach) {
  auto second = loaded_point();
  second.arrivals.rate_per_second = 100;
  const auto document = load_document(loaded({loaded_point(), second}));
  EXPECT_THAT(tables_of(document).at(0).rows().at(1),
              ElementsAre("100/s", "50/s", "49/s", "-", "-", "-", "10 ms", "20 ms", "-", "-"));
  EXPECT_EQ(paragraphs_of(document).at(0), "2 runs; times count from the schedule");
}

TEST(LoadAnswer, OfASearchSaysEveryRunAndTheRate) {
  auto result = loaded({loaded_point()});
  load::FoundRate found;
  found.requests = 100;
  found.points.resize(1);
  found.rate_per_second = 50;
  found.low_per_second = 45;
  found.high_per_second = 55;
  found.by_growth = true;
  result.found = found;
  EXPECT_THAT(paragraphs_of(load_document(result)),
              IsSupersetOf({"50/s: 100 requests",
                            "highest rate within the limits: 50/s, 95 % interval 45/s to 55/s (100 requests in 1 runs)",
                            "the queue grows beyond it before any limit is met: the interval is between runs that grow "
                            "and do not"}));
  result.found->rate_per_second.reset();
  result.found->end = load::SearchEnd::below;
  EXPECT_THAT(paragraphs_of(load_document(result)),
              Contains("no rate that was tried holds, not even the lowest (100 requests in 1 runs)."));
}

TEST(LoadAnswer, OfAnotherClientSaysThatNobodyWatchedIt) {
  auto result = loaded({loaded_point()});
  result.client = "aiperf";
  result.campaign = "0123456789abcdef";
  const auto document = load_document(result);
  EXPECT_THAT(paragraphs_of(document),
              IsSupersetOf({"aiperf: p99 50 us late by its own stamps; it does not say whether it was starved, so that "
                            "limits have no verdict",
                            "kept as campaign 01234567"}));
  EXPECT_THAT(items_of(document), IsEmpty());
}

TEST(LoadAnswer, OfNothingSaysSo) {
  EXPECT_THAT(paragraphs_of(load_document(loaded({}))), ElementsAre("nothing was sent"));
}

}  // namespace
}  // namespace assay::report
