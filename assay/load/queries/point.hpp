#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/load/queries/limits.hpp"
#include "assay/load/queries/schedule.hpp"
#include "assay/load/sent.hpp"

namespace assay::load {

/// A quantile of a time with its interval of 95 %, by order statistics and the design effect. Null: slower than every
/// request that was answered.
struct TimeQuantile {
  double quantile = 0;
  std::optional<double> ns;
  std::optional<double> low_ns;
  std::optional<double> high_ns;
  /// MLPerf's bound by early stopping: with 99 % at least the quantile, where times are independent. Of scenarios in
  /// which one query follows the other; null for all others.
  std::optional<double> early_stopping_ns;
};

template <typename V>
void describe(V& v, TimeQuantile& q) {
  required(v, "quantile", q.quantile);
  v("ns", q.ns);
  v("low_ns", q.low_ns);
  v("high_ns", q.high_ns);
  v("early_stopping_ns", q.early_stopping_ns);
}

/// The times of one kind. Requests that failed or were not answered count as slower than all others.
struct TimeSummary {
  Metric metric = Metric::latency;
  std::int64_t requests = 0;
  /// Those that have enough requests: 64 for p90, 130 for p95, 662 for p99.
  std::vector<TimeQuantile> from_schedule;
  std::vector<TimeQuantile> from_send;  ///< what a client sees that does not count its own lateness and queue
};

template <typename V>
void describe(V& v, TimeSummary& s) {
  required(v, "metric", s.metric);
  v("requests", s.requests);
  v("from_schedule", s.from_schedule);
  v("from_send", s.from_send);
}

/// How the client itself fared.
struct ClientHealth {
  double lateness_budget_ns = 0;         ///< of p99 in a window
  double lateness_p99_ns = 0;            ///< over all requests
  std::int64_t windows = 0;              ///< of one second
  std::int64_t starved_windows = 0;      ///< whose p99 is beyond the budget
  std::optional<std::int64_t> steal_ns;  ///< taken by the hypervisor in all
  double cpu_share = 0;                  ///< of one CPU
  double cpu_per_request_ns = 0;
  std::int64_t connections = 0;  ///< that were opened
  std::int64_t most_under_way = 0;
  std::int64_t connection_cap = 0;
  std::int64_t waited_for_connection = 0;  ///< requests that were due while all connections were in use
};

template <typename V>
void describe(V& v, ClientHealth& c) {
  v("lateness_budget_ns", c.lateness_budget_ns);
  v("lateness_p99_ns", c.lateness_p99_ns);
  v("windows", c.windows);
  v("starved_windows", c.starved_windows);
  v("steal_ns", c.steal_ns);
  v("cpu_share", c.cpu_share);
  v("cpu_per_request_ns", c.cpu_per_request_ns);
  v("connections", c.connections);
  v("most_under_way", c.most_under_way);
  v("connection_cap", c.connection_cap);
  v("waited_for_connection", c.waited_for_connection);
}

/// What one schedule gave, without its warm-up.
struct LoadPoint {
  Arrivals arrivals;
  std::int64_t requests = 0;
  std::map<RequestOutcome, std::int64_t> outcomes;
  double offered_per_second = 0;                   ///< requests that were due
  double answered_per_second = 0;                  ///< requests that went well
  std::optional<double> output_tokens_per_second;  ///< by `usage`; null where the server gives none
  std::optional<std::int64_t> input_tokens;
  std::optional<std::int64_t> output_tokens;
  std::optional<std::int64_t> cached_tokens;  ///< of the input: prompts are fresh, so that more than the prefix is odd
  std::optional<std::int64_t> chunks;         ///< pieces of text; not tokens
  std::optional<double> goodput_per_second;   ///< requests within all limits; null without limits
  double growth = 0;  ///< seconds by which latency grew for each second of the schedule: above 0 where a queue grows
  /// Lower end of the interval of growth, one-sided at 99.9 %, by means of 16 batches; null where there are fewer than
  /// 64 requests.
  std::optional<double> growth_low;
  /// Of the machine, with the client's own, from the first request to the last answer, warm-up included; null where
  /// nothing counts, or the server is on another machine.
  std::optional<Energy> energy;
  /// Over the tokens of `usage`, those of the warm-up included; null without energy or `usage`.
  std::optional<double> joules_per_output_token;
  std::vector<TimeSummary> times;
  std::vector<JudgedLimit> limits;
  ClientHealth client;
  std::vector<ClientWindow> windows;
  bool stopped = false;  ///< by the user
};

template <typename V>
void describe(V& v, LoadPoint& p) {
  required(v, "arrivals", p.arrivals);
  required(v, "requests", p.requests);
  v("outcomes", p.outcomes);
  v("offered_per_second", p.offered_per_second);
  v("answered_per_second", p.answered_per_second);
  v("output_tokens_per_second", p.output_tokens_per_second);
  v("input_tokens", p.input_tokens);
  v("output_tokens", p.output_tokens);
  v("cached_tokens", p.cached_tokens);
  v("chunks", p.chunks);
  v("goodput_per_second", p.goodput_per_second);
  v("growth", p.growth);
  v("growth_low", p.growth_low);
  v("energy", p.energy);
  v("joules_per_output_token", p.joules_per_output_token);
  v("times", p.times);
  v("limits", p.limits);
  v("client", p.client);
  v("windows", p.windows);
  v("stopped", p.stopped);
}

/// Judges what was sent. A window is starved where the p99 of the client's lateness is beyond `budget_ns`; where more
/// than a tenth of the windows are, there is no verdict.
LoadPoint summarise(const Arrivals& arrivals, const Sent& sent, const std::vector<Limit>& limits, double budget_ns);

/// Puts energy into a point, and shares it among the tokens that were written meanwhile.
void add_energy(const std::optional<Energy>& energy, const Sent& sent, LoadPoint& point);

/// Puts median, p90 and p99 of latencies with their intervals into the summary of a record.
void summarise_latency(const LoadPoint& point, Summary& summary);

/// How latency grew over a schedule.
struct Growth {
  double slope = 0;           ///< seconds for each second of the schedule
  std::optional<double> low;  ///< see LoadPoint::growth_low
};

/// Over requests that went well, in the order of the schedule.
Growth growth_of(const std::vector<const Request*>& requests);

/// Whether the queue grows by at least a hundredth of the schedule: requests come faster than they are served, and
/// latency depends on how long the run is.
bool is_growing(const Growth& growth);

/// Whether a window is starved.
bool is_starved(const ClientWindow& window, double budget_ns);

/// Whether the client was starved in more than a tenth of the windows: then nothing is said of the server.
bool is_client_starved(const ClientHealth& client);

/// Requests that count: without the warm-up, in the order of the schedule.
std::vector<const Request*> counted(const std::vector<Request>& requests);

}  // namespace assay::load
