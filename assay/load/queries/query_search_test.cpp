#include "assay/load/queries/query_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace {

using namespace assay;
using namespace assay::load;

constexpr std::int64_t kStepNs = 10'000'000;

/// A worker in virtual time whose steps all take 10 ms.
class EvenServer final : public StepServer {
 public:
  std::int64_t now_ns() override { return now_ns_; }
  void wait_until(std::int64_t ns) override { now_ns_ = std::max(now_ns_, ns); }
  Step step() override {
    now_ns_ += kStepNs;
    return {now_ns_ - kStepNs, now_ns_};
  }

 private:
  std::int64_t now_ns_ = 0;
};

Scenario within(double seconds) {
  Scenario scenario{ScenarioKind::server};
  scenario.limit = TailLimit{99, seconds};
  return scenario;
}

/// The share of queries beyond a limit at this rate, by Lindley's recursion over a long schedule.
double share_over(double rate, double limit_ns) {
  Arrivals arrivals;
  arrivals.seed = 99;
  arrivals.rate_per_second = rate;
  arrivals.requests = 200'000;
  const auto schedule = draw_schedule(arrivals);
  std::int64_t wait = 0;
  std::int64_t over = 0;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    if (i > 0) wait = std::max<std::int64_t>(0, wait + kStepNs - (schedule[i].due_ns - schedule[i - 1].due_ns));
    if (static_cast<double>(wait + kStepNs) > limit_ns) ++over;
  }
  return static_cast<double>(over) / static_cast<double>(schedule.size());
}

TEST(QuerySearch, FindsWhereLindleySaysThatTheLimitBreaks) {
  EvenServer server;
  const auto scenario = within(0.05);
  const auto sought = seek_rate(scenario, 1, {100, 60, 10'000}, 3, server);
  double low = 20;
  double high = 100;
  while (high / low > 1.001) {
    const auto middle = std::sqrt(low * high);
    (share_over(middle, 50e6) > 0.01 ? high : low) = middle;
  }
  ASSERT_EQ(sought.found.end, SearchEnd::found);
  EXPECT_NEAR(*rate_within(sought.found) / low, 1, 0.05) << low;
  EXPECT_LE(*sought.found.low_per_second, low * 1.01);
  EXPECT_GE(*sought.found.high_per_second, low * 0.99);
  // The queries that are kept came at that rate, in a time that begins with them.
  EXPECT_EQ(sought.arrivals.rate_per_second, *sought.found.rate_per_second);
  EXPECT_EQ(std::ssize(sought.sent.requests), 5000);
  EXPECT_NEAR(static_cast<double>(sought.sent.elapsed_ns) * 1e-9, 5000 / low, 0.1 * 5000 / low);
}

TEST(QuerySearch, SaysWhereNoRateKeepsTheLimit) {
  // A step alone takes longer than the limit. The lowest rate that is tried is a 16th of the pace.
  EvenServer server;
  const auto sought = seek_rate(within(0.005), 1, {100, 10, 1000}, 3, server);
  EXPECT_EQ(rate_within(sought.found), std::nullopt);
  EXPECT_EQ(sought.found.points.size(), 1U);
  EXPECT_EQ(search_line(within(0.005), sought.found),
            "server: no rate within p99<5ms: at 6.25/s, 500 of 500 queries took longer");
}

TEST(QuerySearch, EndsAtThePaceOfTheWorker) {
  // At 100/s, where the worker is always busy, 1000 queries wait less than 10 s: in all they take about 10 s.
  EvenServer server;
  const auto sought = seek_rate(within(30), 1, {100, 10, 1000}, 3, server);
  EXPECT_EQ(rate_within(sought.found), 100);
  EXPECT_EQ(search_line(within(30), sought.found), "server: p99<30000ms holds up to the pace of the worker, 100/s");
}

TEST(QuerySearch, TriesAsManyQueriesAsTheQuantileNeeds) {
  // p99 needs 662, and 5,000 leave 50 beyond it; p90 needs 64, and 500 do.
  EXPECT_EQ(queries_of_try({99, 1}, {100, 2, 10'000}), 662);
  EXPECT_EQ(queries_of_try({99, 1}, {1000, 2, 10'000}), 2000);
  EXPECT_EQ(queries_of_try({99, 1}, {1000, 2, 1'000}), 1000);
  EXPECT_EQ(queries_of_try({99, 1}, {10'000, 2, 10'000}), 5000);
  EXPECT_EQ(queries_of_try({90, 1}, {100, 2, 10'000}), 200);
}

}  // namespace
