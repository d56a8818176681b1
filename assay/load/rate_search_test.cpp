#include "assay/load/rate_search.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "assay/load/queries/point.hpp"
#include "assay/load/simulation.hpp"

namespace {

using namespace assay::load;

TEST(RateSearch, FindsTheRateOfAKnownShare) {
  // Requests are over a limit independently with log-odds 20 ln(rate / 100) - ln 99: a p99 holds up to 100 a second.
  RateQuestion question;
  question.limits = {{Metric::latency, 0.99, 1e9}};
  question.first_rate = 7;
  std::uint64_t state = 1;
  const auto found = find_rate(question, [&](double rate, std::int64_t requests, std::int64_t) {
    const auto p = 1 / (1 + std::exp(-(20 * std::log(rate / 100) - std::log(99.0))));
    RatePoint point{rate, requests, {0}, {1}, false};
    for (std::int64_t i = 0; i < requests; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      if (static_cast<double>(state >> 11U) * 0x1p-53 < p) ++point.over[0];
    }
    return std::optional(point);
  });
  EXPECT_EQ(found.end, SearchEnd::found);
  EXPECT_NEAR(*found.rate_per_second, 100, 5);
  EXPECT_LT(*found.low_per_second, *found.rate_per_second);
}

TEST(RateSearch, SaysWhereEveryRateHoldsAndWhereTheClientIsStarved) {
  RateQuestion question;
  question.limits = {{Metric::latency, 0.9, 1e9}};
  question.most_rate = 1000;
  bool starved = false;
  const auto measure = [&](double rate, std::int64_t requests, std::int64_t) {
    return std::optional(RatePoint{rate, requests, {0}, {1}, starved});
  };
  EXPECT_EQ(find_rate(question, measure).end, SearchEnd::above);
  starved = true;
  EXPECT_EQ(find_rate(question, measure).end, SearchEnd::starved);
}

constexpr std::int64_t kServiceNs = 10'000'000;  // 100 a second

/// One worker with a fixed service, in virtual time.
LoadPoint served_at(double rate, std::int64_t requests, std::int64_t seed, const Limit& limit) {
  Arrivals arrivals;
  arrivals.rate_per_second = rate;
  arrivals.requests = requests;
  arrivals.seed = seed;
  QueueServer server;
  server.service_ns = [](std::size_t) { return kServiceNs; };
  return summarise(arrivals, simulate_schedule(server, draw_schedule(arrivals), {}), {limit}, 1e18);
}

RatePoint seen(const LoadPoint& point, double rate) {
  const auto& limit = point.limits.front();
  return {rate,
          point.requests,
          {limit.over},
          {limit.design_effect},
          false,
          point.growth,
          is_growing({point.growth, point.growth_low})};
}

// At 1.2 times what is served, request n comes at n / 120 s and ends at n / 100 s: latency grows by .2 s each second.
TEST(Growth, IsTheShareByWhichRequestsComeTooFast) {
  const Limit limit{Metric::latency, 0.9, 1e12};
  const auto point = served_at(120, 4000, 1, limit);
  EXPECT_NEAR(point.growth, 0.2, 0.06);  // 4000 arrivals by chance are +- 63 in their time: three times 1.6 % of 1.2
  EXPECT_TRUE(is_growing({point.growth, point.growth_low}));
  EXPECT_LT(*point.growth_low, point.growth);
  EXPECT_FALSE(served_at(120, 63, 1, limit).growth_low) << "16 batches of 4 need 64";
}

// 30 runs at 80 % load: with a chance of .001 each, 2 that seem to grow are rarer than .0005.
TEST(Growth, IsNotSeenWhereAQueueOnlyWaits) {
  int growing = 0;
  for (int seed = 1; seed <= 30; ++seed) {
    const auto point = served_at(80, 1000, seed, {Metric::latency, 0.9, 1e12});
    growing += is_growing({point.growth, point.growth_low}) ? 1 : 0;
  }
  EXPECT_LT(growing, 2);
}

// No run is long enough to be beyond a limit of 1,000 s, so that by the limit alone every rate holds.
TEST(RateSearch, EndsWhereTheQueueGrowsThoughNoLimitIsMet) {
  RateQuestion question;
  question.limits = {{Metric::latency, 0.9, 1e12}};
  question.first_rate = 30;
  question.most_rate = 1000;
  const auto measure = [&](double rate, std::int64_t requests, std::int64_t number) {
    return std::optional(seen(served_at(rate, requests, number, question.limits[0]), rate));
  };
  const auto found = find_rate(question, measure);
  ASSERT_EQ(found.end, SearchEnd::found);
  EXPECT_TRUE(found.by_growth);
  EXPECT_NEAR(*found.rate_per_second, 100, 5);
  for (const auto& point : found.points) EXPECT_EQ(point.over[0], 0);
  const auto without = [&](double rate, std::int64_t requests, std::int64_t number) {
    auto point = measure(rate, requests, number);
    point->growing = false;
    return point;
  };
  EXPECT_EQ(find_rate(question, without).end, SearchEnd::above) << "growth is not the only sign";
}

}  // namespace
