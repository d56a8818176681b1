// Schedules in virtual time, by the ledger and the judgements of `assay load`. Prints one JSON document.
//   load_simulation truth REQUESTS    waits of M/D/1, M/D/2 and M/D/10 beside the recursions of Lindley, Kiefer and
//                                     Wolfowitz on the same schedule, and a stall of a second
//   load_simulation rate SEARCHES     searches for the rate of servers whose capacity is known, beside a binomial rule
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include "assay/load/queries/point.hpp"
#include "assay/load/rate_search.hpp"
#include "assay/load/simulation.hpp"
#include "assay/stats/binomial.hpp"

namespace {

using namespace assay::load;
using assay::json;

constexpr std::int64_t kServiceNs = 1'000'000;

Arrivals poisson(double rate, std::int64_t requests, std::int64_t seed) {
  Arrivals arrivals;
  arrivals.rate_per_second = rate;
  arrivals.requests = requests;
  arrivals.seed = seed;
  return arrivals;
}

QueueServer deterministic(std::int64_t workers) {
  QueueServer server;
  server.workers = workers;
  server.service_ns = [](std::size_t) { return kServiceNs; };
  return server;
}

/// Waits by the recursion of Lindley for one worker, of Kiefer and Wolfowitz for more: the work that each worker has
/// left, in order, when a request comes.
std::vector<double> latencies_by_recursion(const std::vector<Arrival>& schedule, std::size_t workers) {
  std::vector<double> left(workers, 0);
  std::vector<double> latencies;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const auto gap = i == 0 ? 0 : static_cast<double>(schedule[i].due_ns - schedule[i - 1].due_ns);
    for (auto& one : left) one = std::max(0.0, one - gap);
    std::sort(left.begin(), left.end());
    left[0] += static_cast<double>(kServiceNs);
    latencies.push_back(left[0]);
  }
  return latencies;
}

double largest_difference(const Sent& sent, const std::vector<double>& truth) {
  double most = sent.requests.size() == truth.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(truth.size(), sent.requests.size()); ++i) {
    const auto time = time_ns(sent.requests[i], Metric::latency);
    most = std::max(most, time ? std::abs(*time - truth[i]) : INFINITY);
  }
  return most;
}

double quantile_ms(const Sent& sent, double quantile) {
  auto times = times_with_failures(counted(sent.requests), Metric::latency, Since::schedule);
  std::sort(times.begin(), times.end());
  return times[static_cast<std::size_t>(quantile * static_cast<double>(times.size() - 1))] * 1e-6;
}

json truth(std::int64_t requests) {
  json rows = json::array();
  for (const std::size_t workers : {1U, 2U, 10U}) {
    for (const double load : {0.5, 0.8, 0.9}) {
      const auto rate = load * static_cast<double>(workers) / (static_cast<double>(kServiceNs) * 1e-9);
      const auto schedule = draw_schedule(poisson(rate, requests, 29));
      const auto expected = latencies_by_recursion(schedule, workers);
      // The queue is in the server, or before the connections of the client: the time from the schedule is the same.
      const auto queue = simulate_schedule(deterministic(static_cast<std::int64_t>(workers)), schedule, {});
      const auto capped = simulate_schedule(deterministic(0), schedule, {.connections = workers});
      rows.push_back({{"workers", workers},
                      {"load", load},
                      {"requests", expected.size()},
                      {"p50_ms", quantile_ms(queue, 0.5)},
                      {"p99_ms", quantile_ms(queue, 0.99)},
                      {"server_off_ns", largest_difference(queue, expected)},
                      {"client_off_ns", largest_difference(capped, expected)}});
    }
  }
  auto stalled = deterministic(1);
  stalled.stall_at_ns = 2'000'000'000;
  stalled.stall_ns = 1'000'000'000;
  auto open = poisson(100, 0, 29);
  open.requests.reset();
  open.duration_seconds = 5;
  auto closed = open;
  closed.kind = ArrivalKind::closed;
  closed.requests = 5000;
  const auto open_sent = simulate_schedule(stalled, draw_schedule(open), {});
  const auto closed_sent =
      simulate_schedule(stalled, draw_schedule(closed), {.clients = 1, .closed_end_ns = 5'000'000'000});
  return {
      {"rows", rows},
      {"stall", {{"open_p99_ms", quantile_ms(open_sent, 0.99)}, {"closed_p99_ms", quantile_ms(closed_sent, 0.99)}}}};
}

/// A server whose capacity under a limit is known.
struct Known {
  const char* name;
  bool exponential;
  Limit limit;
  double capacity;  ///< requests a second
};

/// P(wait > t) of M/D/1 with a service of 1 and a load (Erlang).
double wait_beyond(double t, double load) {
  long double sum = 0;
  for (int j = 0; j <= static_cast<int>(t); ++j) {
    const auto x = static_cast<long double>(load) * (static_cast<long double>(j) - t);
    long double term = std::exp(-x);
    for (int i = 1; i <= j; ++i) term *= x / i;
    sum += term;
  }
  return static_cast<double>(1 - (1 - load) * sum);
}

double capacity_of_md1(double limit_services, double share) {
  double low = 0.01;
  double high = 0.999;
  for (int i = 0; i < 60; ++i) {
    const auto middle = (low + high) / 2;
    (wait_beyond(limit_services - 1, middle) < share ? low : high) = middle;
  }
  return low / (static_cast<double>(kServiceNs) * 1e-9);
}

/// P(time > t) of M/M/1 is exp(-(m - l) t): l = m - ln(1 / share) / t.
double capacity_of_mm1(double limit_services, double share) {
  return (1 - std::log(1 / share) / limit_services) / (static_cast<double>(kServiceNs) * 1e-9);
}

std::vector<Known> known_servers() {
  const auto limit = [](double quantile, double services) {
    return Limit{Metric::latency, quantile, services * static_cast<double>(kServiceNs)};
  };
  return {{"M/D/1 p99<10 services", false, limit(0.99, 10), capacity_of_md1(10, 0.01)},
          {"M/M/1 p99<20 services", true, limit(0.99, 20), capacity_of_mm1(20, 0.01)},
          {"M/D/1 p90<5 services", false, limit(0.90, 5), capacity_of_md1(5, 0.10)}};
}

/// A run as a search sees it.
RatePoint run_at(const Known& known, double rate, std::int64_t requests, std::int64_t seed) {
  auto arrivals = poisson(rate, requests, seed);
  arrivals.warm_up_seconds = 0.1 * static_cast<double>(requests) / rate;
  QueueServer server;
  std::mt19937_64 random(static_cast<std::uint64_t>(seed) * 7919 + 1);
  server.service_ns = [&](std::size_t) {
    if (!known.exponential) return kServiceNs;
    const auto uniform = (static_cast<double>(random() >> 11U) + 0.5) * 0x1p-53;
    return static_cast<std::int64_t>(-std::log(uniform) * static_cast<double>(kServiceNs));
  };
  const auto sent = simulate_schedule(server, draw_schedule(arrivals), {});
  const auto all = counted(sent.requests);
  const auto judged = judge(known.limit, times_with_failures(all, Metric::latency, Since::schedule));
  const auto growth = growth_of(all);
  return {rate, judged.requests, {judged.over}, {judged.design_effect}, false, growth.slope, is_growing(growth)};
}

/// A bracket that is halved by a binomial test at 99 %, as if requests were independent; at most 5,000 a rate.
std::pair<double, std::int64_t> plain_search(const Known& known, std::int64_t seed) {
  double low = 0;
  double high = 0;
  std::int64_t spent = 0;
  for (double rate = 100; low == 0 || high == 0 || high / low > 1.02;) {
    double over = 0;
    double n = 0;
    bool broken = false;
    const auto share = 1 - known.limit.quantile;
    while (n < 5000) {
      const auto point = run_at(known, rate, 500, seed++);
      n += static_cast<double>(point.requests);
      over += static_cast<double>(point.over[0]);
      broken = over > share * n;
      if (assay::stats::binomial_at_most(n, over, share) <= 0.01) break;
      if (1 - assay::stats::binomial_at_most(n, over - 1, share) <= 0.01) break;
    }
    spent += static_cast<std::int64_t>(n);
    (broken ? high : low) = rate;
    rate = low == 0 ? high / 2 : high == 0 ? low * 2 : std::sqrt(low * high);
  }
  return {std::sqrt(low * high), spent};
}

json rate(std::int64_t searches) {
  json rows = json::array();
  for (const auto& known : known_servers()) {
    std::int64_t within = 0, covered = 0, requests = 0, plain_within = 0, plain_requests = 0;
    double worst = 0;
    for (std::int64_t search = 0; search < searches; ++search) {
      RateQuestion question;
      question.limits = {known.limit};
      question.first_rate = 100;
      question.requests = default_run_length(question.limits);
      question.most_requests = 200 * question.requests;
      const auto found = find_rate(question, [&](double at, std::int64_t count, std::int64_t number) {
        return std::optional(run_at(known, at, count, 1'000'000 + search * 1000 + number));
      });
      const auto off = found.rate_per_second.value_or(0) / known.capacity - 1;
      within += std::abs(off) <= 0.05 ? 1 : 0;
      covered +=
          found.rate_per_second && *found.low_per_second <= known.capacity && known.capacity <= *found.high_per_second;
      worst = std::max(worst, std::abs(off));
      requests += found.requests;
      const auto [plain, spent] = plain_search(known, 50'000'000 + search * 10'000);
      plain_within += std::abs(plain / known.capacity - 1) <= 0.05 ? 1 : 0;
      plain_requests += spent;
    }
    rows.push_back({{"server", known.name},
                    {"capacity_per_second", known.capacity},
                    {"searches", searches},
                    {"within_5_percent", within},
                    {"covered", covered},
                    {"worst_off", worst},
                    {"requests", static_cast<double>(requests) / static_cast<double>(searches)},
                    {"plain_within_5_percent", plain_within},
                    {"plain_requests", static_cast<double>(plain_requests) / static_cast<double>(searches)}});
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc == 3 ? argv[1] : "";
  const auto count = argc == 3 ? std::atoll(argv[2]) : 0;
  if ((mode != "truth" && mode != "rate") || count < 1) {
    std::cerr << "usage: load_simulation truth REQUESTS | rate SEARCHES\n";
    return 2;
  }
  std::cout << (mode == "truth" ? truth(count) : rate(count)).dump(1) << '\n';
}
