#include "assay/load/queries/query_search.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/text/units.hpp"
#include "assay/stats/binomial.hpp"
#include "assay/stats/tail.hpp"

namespace assay::load {
namespace {

constexpr double kLeastShare = 1.0 / 16;  // of the pace: lower rates take too long to try
constexpr double kFirstShare = 0.5;       // of the pace
constexpr std::int64_t kMostTries = 20;   // in queries near the edge
constexpr double kWarmUpShare = 0.1;      // of a try: the queue is empty at first
constexpr std::int64_t kSeedsOfSearch = 1000;

/// A server whose time begins when this does: every try has a schedule of its own.
class LaterServer final : public StepServer {
 public:
  explicit LaterServer(StepServer& server) : server_(server), begin_ns_(server.now_ns()) {}

  std::int64_t now_ns() override { return server_.now_ns() - begin_ns_; }
  void wait_until(std::int64_t ns) override { server_.wait_until(ns + begin_ns_); }
  Step step() override {
    const auto step = server_.step();
    return {step.begin_ns - begin_ns_, step.end_ns - begin_ns_};
  }

 private:
  StepServer& server_;
  std::int64_t begin_ns_;
};

RatePoint try_rate(const Scenario& scenario, std::int64_t batch, const Arrivals& arrivals, StepServer& server) {
  LaterServer later(server);
  const auto sent = serve_queries(scenario, batch, arrivals, later);
  const auto limit = limits_of(scenario).front();
  const auto judged = judge(limit, times_with_failures(counted(sent.requests), limit.metric, Since::schedule));
  return {arrivals.rate_per_second, judged.requests, {judged.over}, {judged.design_effect}, false};
}

}  // namespace

std::int64_t queries_of_try(const TailLimit& limit, const SearchEffort& effort) {
  const auto quantile = static_cast<double>(limit.percent) / 100;
  const auto needed = static_cast<std::int64_t>(stats::least_for_quantile(quantile, stats::kTailConfidence));
  const auto most = std::max(needed, default_run_length({{Metric::latency, quantile, 0}}));
  const auto asked = std::llround(std::min(effort.pace_per_second * effort.seconds, static_cast<double>(effort.most)));
  return std::clamp<std::int64_t>(asked, needed, most);
}

FoundQueries seek_rate(const Scenario& scenario, std::int64_t batch, const SearchEffort& effort, std::int64_t seed,
                       StepServer& server) {
  ASSAY_CHECK(seeks_rate(scenario) && scenario.limit);
  RateQuestion question;
  question.limits = limits_of(scenario);
  // A step that takes longer than the limit breaks it at any rate: one try shows it.
  const bool hopeless = static_cast<double>(batch) > effort.pace_per_second * scenario.limit->seconds;
  question.first_rate = (hopeless ? kLeastShare : kFirstShare) * effort.pace_per_second;
  question.least_rate = kLeastShare * effort.pace_per_second;
  question.most_rate = effort.pace_per_second;
  question.requests = queries_of_try(*scenario.limit, effort);
  question.most_requests = kMostTries * question.requests;
  FoundQueries out;
  out.found = find_rate(question, [&](double rate, std::int64_t requests, std::int64_t number) {
    Arrivals arrivals;
    arrivals.kind = ArrivalKind::poisson;
    arrivals.seed = seed * kSeedsOfSearch + number;
    arrivals.rate_per_second = rate;
    arrivals.requests = requests;
    arrivals.warm_up_seconds = kWarmUpShare * static_cast<double>(requests) / rate;
    return std::optional(try_rate(scenario, batch, arrivals, server));
  });
  auto& found = out.found;
  if (found.rate_per_second) found.rate_per_second = std::min(*found.rate_per_second, question.most_rate);
  out.arrivals.kind = ArrivalKind::poisson;
  out.arrivals.seed = seed;
  out.arrivals.requests = question.requests;
  out.arrivals.rate_per_second = found.rate_per_second.value_or(found.points.back().rate_per_second);
  LaterServer later(server);
  out.sent = serve_queries(scenario, batch, out.arrivals, later);
  return out;
}

std::optional<double> rate_within(const FoundRate& found) {
  // At the pace itself the queue grows: what the search could not break is the worker's own bound.
  return found.end == SearchEnd::above ? std::optional(found.points.back().rate_per_second) : found.rate_per_second;
}

std::string search_line(const Scenario& scenario, const FoundRate& found) {
  const auto name = fmt::format("{}: ", name_of(scenario.kind));
  const auto limit = title(*scenario.limit);
  const auto& last = found.points.back();
  if (found.end == SearchEnd::above) {
    return fmt::format("{}{} holds up to the pace of the worker, {}", name, limit, format_rate(last.rate_per_second));
  }
  if (!found.rate_per_second) {
    return fmt::format("{}no rate within {}: at {}, {} of {} queries took longer", name, limit,
                       format_rate(last.rate_per_second), last.over.at(0), last.requests);
  }
  auto line = fmt::format("{}{} ({} to {}) is the highest rate within {}, by {} queries", name,
                          format_rate(*found.rate_per_second), format_rate(*found.low_per_second),
                          format_rate(*found.high_per_second), limit, found.requests);
  if (found.end == SearchEnd::spent) line += "; --seconds makes the interval narrower";
  return line;
}

}  // namespace assay::load
