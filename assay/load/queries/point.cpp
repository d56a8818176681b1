#include "assay/load/queries/point.hpp"

#include <algorithm>
#include <cmath>

#include "assay/stats/binomial.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::load {
namespace {

constexpr double kMostStarved = 0.1;  // of the windows
constexpr double kConfidenceOfVerdicts = 0.99;

std::vector<TimeQuantile> quantiles_of(const std::vector<double>& times) {
  std::vector<TimeQuantile> quantiles;
  auto sorted = times;
  std::sort(sorted.begin(), sorted.end());
  const auto n = sorted.size();
  const auto value = [&](std::size_t rank) {  // from 1
    return std::isfinite(sorted[rank - 1]) ? std::optional(sorted[rank - 1]) : std::nullopt;
  };
  for (const double q : {0.5, 0.9, 0.95, 0.99}) {
    if (n == 0 || (q > 0.5 && n < stats::least_for_quantile(q, kConfidenceOfVerdicts))) break;
    TimeQuantile one;
    one.quantile = q;
    const auto rank = std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(q * static_cast<double>(n))), 1, n);
    one.ns = value(rank);
    std::vector<bool> above(n);
    for (std::size_t i = 0; i < n; ++i) above[i] = times[i] > sorted[rank - 1];
    const auto ranks = stats::quantile_ranks(n, q, 0.95, design_effect(above));
    if (ranks.low) one.low_ns = value(*ranks.low);
    if (ranks.high) one.high_ns = value(*ranks.high);
    quantiles.push_back(one);
  }
  return quantiles;
}

std::optional<std::int64_t> rounded(const std::optional<double>& ns) {
  return ns ? std::optional<std::int64_t>(std::llround(*ns)) : std::nullopt;
}

/// Sum of what servers counted; null where no request has it.
std::optional<std::int64_t> sum_of(const std::vector<const Request*>& requests,
                                   std::optional<std::int64_t> Request::*field) {
  std::optional<std::int64_t> sum;
  for (const auto* request : requests) {
    if (request->*field) sum = sum.value_or(0) + *(request->*field);
  }
  return sum;
}

bool within(const Request& request, const std::vector<Limit>& limits) {
  return std::all_of(limits.begin(), limits.end(), [&](const Limit& limit) {
    const auto time = time_ns(request, limit.metric);
    return request.outcome == RequestOutcome::ok && (!time || *time <= limit.limit_ns);
  });
}

ClientHealth health_of(const Sent& sent, const std::vector<const Request*>& requests, double budget_ns) {
  ClientHealth health;
  health.lateness_budget_ns = budget_ns;
  std::vector<double> lateness;
  for (const auto* request : requests) {
    if (const auto late = lateness_ns(*request)) lateness.push_back(static_cast<double>(*late));
  }
  if (!lateness.empty()) health.lateness_p99_ns = stats::quantile(std::move(lateness), 0.99);
  health.windows = static_cast<std::int64_t>(sent.windows.size());
  for (const auto& window : sent.windows) {
    if (is_starved(window, budget_ns)) ++health.starved_windows;
    if (window.steal_ns) health.steal_ns = health.steal_ns.value_or(0) + *window.steal_ns;
  }
  if (sent.elapsed_ns > 0) health.cpu_share = static_cast<double>(sent.cpu_ns) / static_cast<double>(sent.elapsed_ns);
  if (!sent.requests.empty()) {
    health.cpu_per_request_ns = static_cast<double>(sent.cpu_ns) / static_cast<double>(sent.requests.size());
  }
  health.connections = sent.connections;
  health.most_under_way = sent.most_under_way;
  health.connection_cap = sent.connection_cap;
  health.waited_for_connection = sent.waited;
  return health;
}

/// Requests that were due in windows in which the client was on time.
std::vector<const Request*> due_in_good_windows(const std::vector<const Request*>& requests, const Sent& sent,
                                                double budget_ns) {
  std::vector<const Request*> good;
  std::size_t at = 0;
  for (const auto* request : requests) {
    while (at < sent.windows.size() && sent.windows[at].end_ns <= request->due_ns) ++at;
    if (at == sent.windows.size() || !is_starved(sent.windows[at], budget_ns)) good.push_back(request);
  }
  return good;
}

void judge_limits(LoadPoint& point, const Sent& sent, const std::vector<const Request*>& requests,
                  const std::vector<Limit>& limits, double budget_ns) {
  const auto good = due_in_good_windows(requests, sent, budget_ns);
  const bool starved = is_client_starved(point.client);
  for (const auto& limit : limits) {
    auto judged = judge(limit, times_with_failures(good, limit.metric, Since::schedule));
    const bool lost_too_many = judged.verdict == LimitVerdict::too_few && good.size() < requests.size();
    if (starved || lost_too_many) judged.verdict = LimitVerdict::generator_starved;
    point.limits.push_back(judged);
  }
}

}  // namespace

void add_energy(const std::optional<Energy>& energy, const Sent& sent, LoadPoint& point) {
  point.energy = energy;
  if (!energy) return;
  std::vector<const Request*> all;
  for (const auto& request : sent.requests) all.push_back(&request);
  const auto tokens = sum_of(all, &Request::output_tokens).value_or(0);
  if (tokens > 0) point.joules_per_output_token = energy->joules / static_cast<double>(tokens);
}

void summarise_latency(const LoadPoint& point, Summary& summary) {
  for (const auto& times : point.times) {
    if (times.metric != Metric::latency) continue;
    for (const auto& one : times.from_schedule) {
      std::optional<QuantileInterval> interval;
      if (one.low_ns && one.high_ns) interval = {std::llround(*one.low_ns), std::llround(*one.high_ns)};
      if (one.quantile == 0.5) summary.median_ns = rounded(one.ns);
      if (one.quantile == 0.9) summary.p90_ns = rounded(one.ns);
      if (one.quantile == 0.9) summary.p90_interval = interval;
      if (one.quantile == 0.99) summary.p99_ns = rounded(one.ns);
      if (one.quantile == 0.99) summary.p99_interval = interval;
    }
  }
}

bool is_starved(const ClientWindow& window, double budget_ns) {
  return window.lateness_p99_ns > budget_ns;
}

bool is_client_starved(const ClientHealth& client) {
  return static_cast<double>(client.starved_windows) > kMostStarved * static_cast<double>(client.windows);
}

std::vector<const Request*> counted(const std::vector<Request>& requests) {
  std::vector<const Request*> all;
  for (const auto& request : requests) {
    if (!request.warm_up) all.push_back(&request);
  }
  return all;
}

LoadPoint summarise(const Arrivals& arrivals, const Sent& sent, const std::vector<Limit>& limits, double budget_ns) {
  LoadPoint point;
  point.arrivals = arrivals;
  const auto requests = counted(sent.requests);
  point.requests = static_cast<std::int64_t>(requests.size());
  point.client = health_of(sent, requests, budget_ns);
  point.windows = sent.windows;
  point.stopped = sent.stopped;
  for (const auto* request : requests) ++point.outcomes[request->outcome];
  if (!requests.empty()) {
    // From the first deadline that counts to the last one and the distance of two: constant arrivals give their rate.
    const auto first = requests.front()->due_ns;
    const auto span = static_cast<double>(requests.back()->due_ns - first) * 1e-9;
    const auto count = static_cast<double>(requests.size());
    const auto seconds = count > 1 ? span * count / (count - 1) : 0;
    const auto ok = point.outcomes[RequestOutcome::ok];
    if (ok == 0) point.outcomes.erase(RequestOutcome::ok);
    if (seconds > 0) point.offered_per_second = count / seconds;  // all at once have no rate
    std::int64_t last = first;
    for (const auto* request : requests) last = std::max(last, request->finished_ns.value_or(first));
    const auto busy = std::max(seconds, static_cast<double>(last - first) * 1e-9);
    if (busy > 0) {
      point.answered_per_second = static_cast<double>(ok) / busy;
      point.output_tokens = sum_of(requests, &Request::output_tokens);
      if (point.output_tokens) point.output_tokens_per_second = static_cast<double>(*point.output_tokens) / busy;
      const auto good =
          std::count_if(requests.begin(), requests.end(), [&](const auto* r) { return within(*r, limits); });
      if (!limits.empty()) point.goodput_per_second = static_cast<double>(good) / busy;
    }
  }
  point.input_tokens = sum_of(requests, &Request::input_tokens);
  point.output_tokens = sum_of(requests, &Request::output_tokens);
  point.cached_tokens = sum_of(requests, &Request::cached_tokens);
  for (const auto* request : requests) {
    if (request->chunks > 0) point.chunks = point.chunks.value_or(0) + request->chunks;
  }
  const auto growth = growth_of(requests);
  point.growth = growth.slope;
  point.growth_low = growth.low;
  for (const auto metric : {Metric::ttft, Metric::tpot, Metric::latency}) {
    const bool any = std::any_of(requests.begin(), requests.end(),
                                 [&](const auto* request) { return time_ns(*request, metric).has_value(); });
    if (!any) continue;
    TimeSummary summary;
    summary.metric = metric;
    const auto times = times_with_failures(requests, metric, Since::schedule);
    summary.requests = static_cast<std::int64_t>(times.size());
    summary.from_schedule = quantiles_of(times);
    if (metric != Metric::tpot) summary.from_send = quantiles_of(times_with_failures(requests, metric, Since::send));
    point.times.push_back(std::move(summary));
  }
  judge_limits(point, sent, requests, limits, budget_ns);
  return point;
}

}  // namespace assay::load
