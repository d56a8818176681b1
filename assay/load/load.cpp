#include "assay/load/load.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/clock.hpp"
#include "assay/load/energy_sampler.hpp"
#include "assay/load/server/null_server.hpp"

namespace assay::load {
namespace {

constexpr double kCertifySeconds = 3;

Ledger::Rules rules_of(const Arrivals& arrivals) {
  Ledger::Rules rules;
  if (arrivals.kind != ArrivalKind::closed) return rules;
  rules.clients = static_cast<std::size_t>(arrivals.clients.value_or(1));
  rules.closed_warm_up_ns = std::llround(arrivals.warm_up_seconds * 1e9);
  if (!arrivals.requests) {
    rules.closed_end_ns = std::llround((arrivals.warm_up_seconds + arrivals.duration_seconds) * 1e9);
  }
  return rules;
}

RatePoint rate_point(const LoadPoint& point, double rate) {
  RatePoint found;
  found.rate_per_second = rate;
  found.requests = point.requests;
  found.growth = point.growth;
  found.growing = is_growing({point.growth, point.growth_low});
  for (const auto& limit : point.limits) {
    found.over.push_back(limit.over);
    found.design_effects.push_back(limit.design_effect);
    found.requests = std::min(found.requests, limit.requests);
    if (limit.verdict == LimitVerdict::generator_starved) found.starved = true;
  }
  return found;
}

}  // namespace

LoadPoint measure_point(const LoadQuestion& question, std::vector<Request>* requests) {
  auto schedule = draw_schedule(question.arrivals, question.trace);
  std::optional<EnergySampler> sampler;
  if (!question.energy.empty()) sampler.emplace(question.energy);
  auto sent = send_schedule(question.target, question.sending, std::move(schedule), rules_of(question.arrivals));
  auto point = summarise(question.arrivals, sent, question.limits, question.lateness_budget_ns);
  if (sampler) add_energy(sampler->finish(), sent, point);
  if (requests != nullptr) *requests = std::move(sent.requests);
  return point;
}

LoadPoint certify_client(const LoadQuestion& question) {
  NullService service;
  if (question.sending.form.stream) service.gap_ns = 5'000'000;
  const NullServer server(service);
  auto same = question;
  same.limits.clear();
  same.energy.clear();
  same.target = parse_target(server.url() + question.target.path);
  same.sending.authorization.clear();
  same.sending.drain_ns = 2'000'000'000;
  same.arrivals.warm_up_seconds = 0;
  same.arrivals.duration_seconds =
      std::min(kCertifySeconds, question.arrivals.requests ? kCertifySeconds : question.arrivals.duration_seconds);
  if (same.arrivals.requests && same.arrivals.rate_per_second > 0) {
    const auto most = static_cast<std::int64_t>(kCertifySeconds * same.arrivals.rate_per_second);
    same.arrivals.requests = std::clamp<std::int64_t>(most, 1, *same.arrivals.requests);
  }
  return measure_point(same);
}

FoundRate search_rate(const LoadQuestion& question, RateQuestion rates, double most_seconds,
                      const MeasurePoint& measure_one) {
  rates.limits = question.limits;
  const auto begin_ns = monotonic_ns();
  bool out_of_time = false;
  const auto measure = [&](double rate, std::int64_t requests, std::int64_t number) -> std::optional<RatePoint> {
    const auto seconds = static_cast<double>(requests) / rate;
    const auto used = static_cast<double>(monotonic_ns() - begin_ns) * 1e-9;
    out_of_time = used + 1.1 * seconds > most_seconds;
    if (out_of_time) return std::nullopt;
    auto one = question;
    one.arrivals.rate_per_second = rate;
    one.arrivals.requests = requests;
    one.arrivals.warm_up_seconds = std::max(0.1 * seconds, 0.5);
    one.arrivals.duration_seconds = 0;
    one.arrivals.seed = question.arrivals.seed * 1000 + number;
    one.sending.form.point = number;
    const auto point = measure_one(one);
    return point ? std::optional(rate_point(*point, rate)) : std::nullopt;
  };
  auto found = find_rate(rates, measure);
  if (found.end == SearchEnd::stopped && out_of_time) found.end = SearchEnd::spent;
  return found;
}

}  // namespace assay::load
