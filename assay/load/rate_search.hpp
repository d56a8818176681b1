#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "assay/load/queries/limits.hpp"

namespace assay::load {

/// A run at one rate, as a search sees it.
struct RatePoint {
  double rate_per_second = 0;
  std::int64_t requests = 0;
  std::vector<std::int64_t> over;      ///< requests beyond each limit
  std::vector<double> design_effects;  ///< for each limit
  bool starved = false;                ///< the client was too late: the run says nothing
  double growth = 0;                   ///< seconds by which latency grew for each second of the schedule
  bool growing = false;                ///< the queue grows: the rate is beyond what is served, whatever limits say
};

template <typename V>
void describe(V& v, RatePoint& p) {
  required(v, "rate_per_second", p.rate_per_second);
  v("requests", p.requests);
  v("over", p.over);
  v("design_effects", p.design_effects);
  v("starved", p.starved);
  v("growth", p.growth);
  v("growing", p.growing);
}

/// What is asked of a search.
struct RateQuestion {
  std::vector<Limit> limits;
  double first_rate = 1;
  double least_rate = 1e-3;
  double most_rate = 1e6;
  std::int64_t requests = 2000;          ///< of a run near the edge; fewer while it is being looked for
  std::int64_t most_requests = 200'000;  ///< in all
  double precision = 0.05;               ///< half of the interval, as a share of the rate
};

/// How a search ended.
enum class SearchEnd {
  found,    ///< within the precision that was asked for
  spent,    ///< all requests are spent: the interval is as wide as they allow
  above,    ///< the highest rate that may be tried holds
  below,    ///< the lowest rate that may be tried does not hold
  starved,  ///< the client was starved too often
  stopped,  ///< by the user
};

}  // namespace assay::load

template <>
struct assay::EnumNames<assay::load::SearchEnd> {
  static constexpr std::array<const char*, 6> names{"found", "spent", "above", "below", "starved", "stopped"};
};

namespace assay::load {

/// The highest rate within all limits.
struct FoundRate {
  SearchEnd end = SearchEnd::spent;
  std::optional<double> rate_per_second;
  std::optional<double> low_per_second;  ///< of its interval of 95 %
  std::optional<double> high_per_second;
  std::int64_t requests = 0;  ///< it took
  std::int64_t limit = 0;     ///< which limit is met first, from 0; where none is, see by_growth
  bool by_growth = false;     ///< the queue grows before any limit is met
  std::vector<RatePoint> points;
};

template <typename V>
void describe(V& v, FoundRate& f) {
  required(v, "end", f.end);
  v("rate_per_second", f.rate_per_second);
  v("low_per_second", f.low_per_second);
  v("high_per_second", f.high_per_second);
  v("requests", f.requests);
  v("limit", f.limit);
  v("by_growth", f.by_growth);
  v("points", f.points);
}

/// Measures at a rate with so many requests; `number` differs for each run, so that prompts and schedules are fresh.
/// Null where the user asked to stop.
using MeasureRate = std::function<std::optional<RatePoint>(double rate, std::int64_t requests, std::int64_t number)>;

/// Requests of a run that leave about 50 beyond the highest quantile at the edge: 500 for p90, 5,000 for p99.
std::int64_t default_run_length(const std::vector<Limit>& limits);

/// Searches in virtual or real time. It brackets the rate by doubling, halves the bracket to a factor of 1.2, and then
/// fits the log-odds of a request beyond the limit over the logarithm of the rate to all runs near the edge, which it
/// repeats until the interval is narrow enough. Runs differ by more than a binomial allows, because waits are alike in
/// neighbours: the dispersion between runs, or the design effect inside of them if that is larger, widens the interval.
/// A run whose queue grows breaks its rate although all limits hold, since a longer one would not hold them. Where that
/// comes first, the edge is halved between runs that grow and runs that do not.
FoundRate find_rate(const RateQuestion& question, const MeasureRate& measure);

}  // namespace assay::load
