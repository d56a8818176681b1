#include "assay/predict/serving/server_simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "assay/predict/models/catalogue.hpp"

namespace assay::predict {
namespace {

using testing::HasSubstr;

/// One request at a time, each a prompt of one token and its answer of one: a queue with service of this length.
Servers single_file(std::int64_t replicas) {
  Servers servers;
  servers.replicas = replicas;
  servers.limits = {1, 1, 1000};
  return servers;
}

ServingLoad one_token_each(double rate, std::int64_t requests) {
  ServingLoad load;
  load.requests = requests;
  load.prompt_tokens = 1;
  load.output_tokens = 1;
  load.rate = rate;
  load.seed = 7;
  return load;
}

ServingSimulation one_token_queue(std::int64_t replicas, double rate, std::int64_t requests,
                                  Routing routing = Routing::least_work) {
  auto servers = single_file(replicas);
  servers.routing = routing;
  return simulate_serving(StepTable::fixed(1, 1), servers, one_token_each(rate, requests));
}

double mean_wait(const ServingSimulation& seen) {
  return seen.mean_first_token() - 1;
}

/// Kiefer and Wolfowitz; with one server, Lindley: who comes first goes to the server that is free first, and waits
/// for the work that it still has.
std::vector<double> recursive_waits(const std::vector<ServedRequest>& requests, const std::vector<double>& services,
                                    std::size_t servers) {
  std::vector<double> waits;
  std::vector<double> work(servers, 0);
  double now = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (auto& left : work) left = std::max(0.0, left - (requests[i].arrival - now));
    now = requests[i].arrival;
    const auto least = std::min_element(work.begin(), work.end());
    waits.push_back(*least);
    *least += services[i];
  }
  return waits;
}

void expect_recursive_waits(const std::vector<ServedRequest>& requests, const std::vector<double>& services,
                            std::size_t servers) {
  const auto waits = recursive_waits(requests, services, servers);
  double most = 0;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    ASSERT_NEAR(requests[i].first_token - requests[i].arrival - services[i], waits[i], 1e-6) << i;
    most = std::max(most, waits[i]);
  }
  EXPECT_GT(most, 2 * services.front());  // else nothing would have queued
}

/// Whitt (Planning queueing simulations, 1989): the mean wait of so many requests has a relative standard deviation of
/// about sqrt(2 c / (load (1 - load)^2 requests)), c being the squared coefficients of variation of gaps and services.
/// Three of them; a tenth of the requests is not counted.
double three_deviations(double load, std::int64_t requests, double variation = 1) {
  return 3 * std::sqrt(2 * variation / (load * (1 - load) * (1 - load) * .9 * static_cast<double>(requests)));
}

/// Crommelin's chain: with service 1, those in the system one service time later are those that were not served, and
/// what arrived: N' = max(N - c, 0) + Poisson(rate). The mean queue over the rate is the mean wait (Little).
double crommelin_wait(int servers, double rate) {
  constexpr std::size_t kStates = 400;
  std::vector<double> poisson(kStates, std::exp(-rate));
  for (std::size_t i = 1; i < kStates; ++i) poisson[i] = poisson[i - 1] * rate / static_cast<double>(i);
  std::vector<double> at(kStates, 0);
  at[0] = 1;
  for (int round = 0; round < 1000; ++round) {
    std::vector<double> next(kStates, 0);
    for (std::size_t n = 0; n < kStates; ++n) {
      const auto left = n > static_cast<std::size_t>(servers) ? n - static_cast<std::size_t>(servers) : 0;
      for (std::size_t k = 0; left + k < kStates; ++k) next[left + k] += at[n] * poisson[k];
    }
    at = next;
  }
  double queue = 0;
  for (std::size_t n = static_cast<std::size_t>(servers); n < kStates; ++n) {
    queue += static_cast<double>(n - static_cast<std::size_t>(servers)) * at[n];
  }
  return queue / rate;
}

TEST(ServerSimulation, EveryRequestWaitsForTheServerThatIsFreeFirst) {
  const std::vector<double> services(20'000, 1);
  const auto of = [](std::int64_t replicas, double rate) { return one_token_queue(replicas, rate, 20'000).requests; };
  expect_recursive_waits(of(1, 0.5), services, 1);
  expect_recursive_waits(of(1, 0.9), services, 1);
  expect_recursive_waits(of(2, 1.4), services, 2);
  expect_recursive_waits(of(4, 3.6), services, 4);
}

TEST(ServerSimulation, OneServerWaitsAsTheoryOfMD1) {
  // Pollaczek and Khinchine with service 1: rate / (2 (1 - rate)).
  EXPECT_NEAR(mean_wait(one_token_queue(1, 0.5, 100'000)) / 0.5, 1, three_deviations(0.5, 100'000));
}

/// Erlang: with service 1, P(wait <= t) = (1 - rate) sum over k <= t of (rate (k - t))^k / k! e^(rate (t - k)).
double erlang_share(double rate, double t) {
  double sum = 0;
  for (int k = 0; k <= static_cast<int>(t); ++k) {
    sum += std::pow(rate * (k - t), k) / std::tgamma(k + 1) * std::exp(rate * (t - k));
  }
  return (1 - rate) * sum;
}

TEST(ServerSimulation, TheQueueHasTheQuantilesOfTheoryOfMD1) {
  ASSERT_NEAR(erlang_share(0.7, 0), 0.3, 1e-12);  // a server that is idle three times in ten
  constexpr std::int64_t kRequests = 500'000;
  const auto seen = one_token_queue(1, 0.7, kRequests);
  EXPECT_NEAR(mean_wait(seen) / (0.7 / 0.6), 1, three_deviations(0.7, kRequests));
  // How far shares of such queues deviate, over the root of the requests that count: of 400 queues of 20,000 requests,
  // simulated by Lindley's recursion in numpy.
  const double root = std::sqrt(.9 * kRequests);
  for (const auto& [share, deviation] : {std::pair{0.5, 1.13}, {0.9, 1.15}, {0.99, 0.42}}) {
    EXPECT_NEAR(erlang_share(0.7, seen.queue_quantile(share)), share, 3 * deviation / root) << share;
  }
  EXPECT_EQ(seen.queue_quantile(0.2), 0);
}

TEST(ServerSimulation, SeveralServersWaitAsTheoryOfMDc) {
  ASSERT_NEAR(crommelin_wait(1, 0.5), 0.5, 1e-6);  // the oracle itself, where there is a formula
  EXPECT_NEAR(mean_wait(one_token_queue(2, 1.4, 300'000)) / crommelin_wait(2, 1.4), 1, three_deviations(0.7, 300'000));
  EXPECT_NEAR(mean_wait(one_token_queue(4, 3.2, 300'000)) / crommelin_wait(4, 3.2), 1, three_deviations(0.8, 300'000));
}

TEST(ServerSimulation, AClosedLoopOfOneTakesItsPromptAndItsSteps) {
  // A prompt of 100 tokens at 1 ms, then 9 more tokens at 10 ms each: .1 s and .19 s a request.
  ServingLoad load{20, 100, 10, 0, 1, 1};
  const auto seen = simulate_serving(StepTable::fixed(0.01, 0.001), {}, load);
  EXPECT_NEAR(seen.mean_first_token(), 0.1, 1e-9);
  EXPECT_NEAR(seen.mean_token(), 0.01, 1e-9);
  EXPECT_NEAR(seen.seconds, 20 * 0.19, 1e-9);
  EXPECT_EQ(seen.decoded_tokens, 20 * 10);
}

TEST(ServerSimulation, OneClientTakesTheTimesOfTheFormula) {
  const KernelTimes times(find_device("h100"));
  const ServedModel model{model_named("llama3-8b"), ProductType::bf16, 2, 1};
  const ServingPoint point{model, ServingMode::closed_loop, 8192, 129, 1, false};
  for (const double first : {0.6, 1.0, 2.5}) {
    StackConstants constants;
    constants.prefill = 1.2;
    constants.first = first;
    constants.first_each = 0.3;  // of others, of which there are none
    constants.wait = 0;
    const auto formula = serving_times(point, parts_of(point, times, 1), constants);
    // 8192 tokens are a point of the table, and one step; contexts of answers are between points.
    const StepTable table(model, times, constants, 4, 8192);
    const auto seen = simulate_serving(table, {}, {10, 8192, 129, 0, 1, 1});
    EXPECT_NEAR(seen.mean_first_token() / formula.first_token_seconds, 1, 1e-9) << first;
    EXPECT_NEAR(seen.mean_token() / formula.token_seconds, 1, 0.01) << first;
    EXPECT_NEAR(seen.tokens_per_second() / formula.tokens_per_second, 1, 0.01) << first;
  }
}

TEST(ServerSimulation, AFirstTokenTakesMoreThanItsPromptAndOthersDoNotDelayItTwice) {
  // Two prompts of .1 s are computed in one step; then 9 steps of 10 ms.
  const auto first_token = [](double first, double first_each) {
    const auto table = StepTable::fixed(0.01, 0.001).with_first(first, first_each);
    const auto seen = simulate_serving(table, {}, {2, 100, 10, 0, 2, 1});
    EXPECT_NEAR(seen.requests[0].finish, seen.requests[0].first_token + 0.09, 1e-9);
    EXPECT_NEAR(seen.requests[1].first_token, seen.requests[0].first_token, 1e-9);
    return seen.requests[0].first_token;
  };
  EXPECT_NEAR(first_token(3, 0), 0.2 + 2 * 0.1, 1e-9);
  EXPECT_NEAR(first_token(1, 0.5), 0.2, 1e-9);  // 1.5 prompts; each waited for the other's already
  EXPECT_NEAR(first_token(1, 3), 4 * 0.1, 1e-9);
}

TEST(ServerSimulation, OthersGoOnWhileAFirstTokenIsNotYetThere) {
  // A place for two, and a third client. The first two have their tokens at .1 + .1 + 2 x .1 = .4 s and end at .49; the
  // third gets a place only then: .49 + .1 + .2 = .79.
  Servers servers;
  servers.limits.batch = 2;
  const auto table = StepTable::fixed(0.01, 0.001).with_first(3, 0);
  const auto seen = simulate_serving(table, servers, {3, 100, 10, 0, 3, 1});
  EXPECT_NEAR(seen.requests[1].finish, 0.49, 1e-9);
  EXPECT_NEAR(seen.requests[2].first_token, 0.79, 1e-9);
  // With room for all three their prompts take .3 s, and none waits for another's first token.
  EXPECT_NEAR(simulate_serving(table, {}, {3, 100, 10, 0, 3, 1}).requests[2].first_token, 0.5, 1e-9);
}

TEST(ServerSimulation, APromptInChunksLetsOthersDecodeBetweenThem) {
  // Two clients begin together: a step of 64 tokens holds 64 of the first prompt, and each sequence of a later step
  // takes one of the 64. Whatever the order, every request gets its tokens and no step has more than 64.
  Servers servers;
  servers.limits = {8, 64, 10'000};
  ServingLoad load{50, 200, 20, 0, 8, 1};
  const auto seen = simulate_serving(StepTable::fixed(0.01, 0.0001), servers, load);
  EXPECT_EQ(seen.decoded_tokens, 50 * 20);
  EXPECT_EQ(seen.evictions, 0);
  // 50 prompts of 200 tokens, at most 64 a step.
  EXPECT_GE(seen.steps, 50 * 200 / 64);
}

TEST(ServerSimulation, EvictionLosesNoRequestAndNoToken) {
  Servers servers;
  servers.limits = {64, 512, 700};  // room for two whole requests and a bit
  for (const double rate : {0.0, 5.0, 50.0}) {
    ServingLoad load{300, 100, 200, rate, 16, 3};
    // At the highest rate first tokens are late, so that some sequences are evicted before they are there.
    const auto table = StepTable::fixed(0.01, 0.0001).with_first(rate > 5 ? 30 : 1, 0.1);
    const auto seen = simulate_serving(table, servers, load);
    EXPECT_GT(seen.evictions, 0);
    EXPECT_EQ(seen.decoded_tokens, 300 * 200);
    for (const auto& request : seen.requests) {
      ASSERT_EQ(request.output_tokens, 200);
      ASSERT_GE(request.first_token, request.arrival);
      ASSERT_GT(request.finish, request.first_token);
    }
  }
}

TEST(ServerSimulation, PrefillOfItsOwnHandsOver) {
  // One request: .1 s of prompt, .05 s to hand over, then 9 steps of 10 ms.
  Servers servers;
  servers.prefill_replicas = 1;
  servers.hand_over_seconds = 0.05;
  ServingLoad load{1, 100, 10, 0, 1, 1};
  const auto seen = simulate_serving(StepTable::fixed(0.01, 0.001), servers, load);
  EXPECT_NEAR(seen.requests[0].first_token, 0.1, 1e-9);
  EXPECT_NEAR(seen.requests[0].finish, 0.1 + 0.05 + 0.09, 1e-9);
  const auto late = simulate_serving(StepTable::fixed(0.01, 0.001).with_first(2, 0), servers, load);
  EXPECT_NEAR(late.requests[0].first_token, 0.2, 1e-9);
  EXPECT_NEAR(late.requests[0].finish, 0.2 + 0.05 + 0.09, 1e-9);
  load.requests = 500;
  load.concurrency = 32;
  EXPECT_EQ(simulate_serving(StepTable::fixed(0.01, 0.001), servers, load).decoded_tokens, 500 * 10);
}

TEST(ServerSimulation, EveryTokenOfDrawnLengthsIsMadeAlsoWhereSequencesAreEvicted) {
  Servers servers;
  servers.limits = {64, 512, 3000};
  for (const double rate : {0.0, 50.0}) {
    ServingLoad load{500, 100, 60, rate, 32, 3};
    load.lengths = {LengthKind::lognormal, 0.8, {}};
    const auto seen = simulate_serving(StepTable::fixed(0.01, 0.0001), servers, load);
    const auto lengths = drawn_lengths(load.lengths, {100, 60}, 500, 3);
    std::int64_t tokens = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      tokens += lengths[i].output_tokens;
      ASSERT_EQ(seen.requests[i].output_tokens, lengths[i].output_tokens);
      ASSERT_GE(seen.requests[i].begin, seen.requests[i].arrival);
      ASSERT_GE(seen.requests[i].first_token, seen.requests[i].begin);
    }
    EXPECT_EQ(seen.decoded_tokens, tokens);
    EXPECT_GT(seen.evictions, 0);
  }
}

TEST(ServerSimulation, DrawnPromptsWaitAsTheoryOfMG1) {
  // A place for one, answers of one token: service is the prompt, of 1 or 3 tokens at .1 s, in halves. By Pollaczek and
  // Khinchine the mean wait is rate E[S^2] / (2 (1 - rate E[S])) = 3 x .05 / (2 x .4) at 3 requests a second.
  Servers servers;
  servers.limits = {1, 8, 1000};
  constexpr std::int64_t kRequests = 200'000;
  ServingLoad load{kRequests, 2, 1, 3, 1, 7};
  load.lengths = {LengthKind::listed, 0, {{1, 1}, {3, 1}}};
  const auto seen = simulate_serving(StepTable::fixed(1, 0.1), servers, load);
  // Services are .2 s, and .1 s off it: a quarter is the square of their coefficient of variation.
  const double tolerance = three_deviations(0.6, kRequests, 1.25);
  EXPECT_NEAR((seen.mean_first_token() - 0.2) / (3 * 0.05 / (2 * 0.4)), 1, tolerance);
  std::vector<double> services;
  for (const auto& one : drawn_lengths(load.lengths, {2, 1}, kRequests, load.seed)) {
    services.push_back(.1 * static_cast<double>(one.prompt_tokens));
  }
  expect_recursive_waits(seen.requests, services, 1);
}

TEST(ServerSimulation, ReplicasInTurnShareAQueueWhereServicesAreEqualAndWaitLongerWhereTheyAreNot) {
  // Equal services end in the order in which they began: in turn is then first come, first served.
  expect_recursive_waits(one_token_queue(2, 1.4, 20'000, Routing::round_robin).requests, std::vector<double>(20'000, 1),
                         2);
  // Of prompts of 1 or 9 tokens one in turn waits behind a long one, while the other server is free: each server has
  // every second request, and a queue of its own.
  constexpr std::int64_t kRequests = 20'000;
  auto servers = single_file(2);
  servers.routing = Routing::round_robin;
  servers.limits = {1, 16, 1000};
  auto uneven = one_token_each(0.28, kRequests);
  uneven.prompt_tokens = 5;
  uneven.lengths = {LengthKind::listed, 0, {{1, 1}, {9, 1}}};
  const auto table = StepTable::fixed(1, 1);
  const auto in_turn = simulate_serving(table, servers, uneven);
  const auto lengths = drawn_lengths(uneven.lengths, {5, 1}, kRequests, uneven.seed);
  for (std::size_t server = 0; server < 2; ++server) {
    std::vector<ServedRequest> own;
    std::vector<double> services;
    for (std::size_t i = server; i < in_turn.requests.size(); i += 2) {
      own.push_back(in_turn.requests[i]);
      services.push_back(static_cast<double>(lengths[i].prompt_tokens));
    }
    expect_recursive_waits(own, services, 1);
  }
  servers.routing = Routing::least_work;
  EXPECT_GT(in_turn.mean_first_token(), simulate_serving(table, servers, uneven).mean_first_token());
}

TEST(ServerSimulation, TurnsOfPromptsAndOfAnswersAreCountedApart) {
  // Two clients, a server for prompts, and two that decode one sequence each: in turn, no answer waits for the other.
  // Prompts are there at .02 and .04 s; then 9 steps of 10 ms.
  Servers servers;
  servers.replicas = 2;
  servers.prefill_replicas = 1;
  servers.routing = Routing::round_robin;
  servers.limits = {1, 100, 1000};
  const auto seen = simulate_serving(StepTable::fixed(0.01, 0.001), servers, {2, 20, 10, 0, 2, 1});
  EXPECT_NEAR(seen.requests[0].finish, 0.02 + 0.09, 1e-9);
  EXPECT_NEAR(seen.requests[1].finish, 0.04 + 0.09, 1e-9);
}

TEST(ServerSimulation, CachesAreHandedOverByTheirLength) {
  // A mean prompt of 100 tokens takes .05 s to hand over: one of 300 takes .15, after .3 s of prompt.
  Servers servers;
  servers.prefill_replicas = 1;
  servers.hand_over_seconds = 0.05;
  ServingLoad load{1, 100, 10, 0, 1, 1};
  load.lengths = {LengthKind::listed, 0, {{300, 10}}};
  const auto seen = simulate_serving(StepTable::fixed(0.01, 0.001), servers, load);
  EXPECT_NEAR(seen.requests[0].finish, 0.3 + 0.15 + 0.09, 1e-9);
}

TEST(ServerSimulation, TheSameSeedIsTheSameAnswerAndAnotherIsNot) {
  ServingLoad load{500, 100, 50, 4, 1, 11};
  const auto table = StepTable::fixed(0.01, 0.0005);
  const double one = simulate_serving(table, {}, load).first_token_quantile(0.99);
  EXPECT_EQ(simulate_serving(table, {}, load).first_token_quantile(0.99), one);
  load.seed = 12;
  EXPECT_NE(simulate_serving(table, {}, load).first_token_quantile(0.99), one);
}

TEST(ServerSimulation, ARequestBeyondTheCacheIsRefused) {
  Servers servers;
  servers.limits.cache_tokens = 100;
  try {
    static_cast<void>(simulate_serving(StepTable::fixed(1, 1), servers, {1, 90, 20, 0, 1, 1}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("110 tokens does not fit into a cache of 100"));
  }
}

TEST(ServerSimulation, AMillionTokensASecondAreSimulated) {
  // The worst case is one sequence at a time: a step for each token. A tenth of the goal's time is taken here.
  ServingLoad load{2000, 128, 500, 0, 1, 1};
  const auto begin = std::chrono::steady_clock::now();
  const auto seen = simulate_serving(StepTable::fixed(0.01, 0.0001), {}, load);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(seen.decoded_tokens, 1'000'000);
  EXPECT_LT(seconds, 10) << "1 s is the goal; ten are allowed where others compute";
}

}  // namespace
}  // namespace assay::predict
