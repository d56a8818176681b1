#include "assay/core/workloads/scenario.hpp"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

constexpr std::int64_t kSamplesOfMultiStream = 8;  // MLPerf's
constexpr double kMostRate = 1e6;
constexpr double kMostWaitSeconds = 60;

std::optional<ScenarioKind> kind_named(const std::string& name) {
  const auto& names = EnumNames<ScenarioKind>::names;
  const auto* const at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? std::nullopt : std::optional(static_cast<ScenarioKind>(at - names.begin()));
}

void check_rate(const Scenario& scenario) {
  const auto& rate = scenario.rate_per_second;
  const bool is_server = scenario.kind == ScenarioKind::server;
  if (rate && !is_server) {
    fail(ErrorKind::usage, "rate: {:g} a second is for the scenario server; in {} the worker sets the pace.", *rate,
         name_of(scenario.kind));
  }
  if (!rate && is_server && !scenario.limit) {
    fail(ErrorKind::usage,
         "rate: the scenario server needs one. Say how many queries arrive in a second, such as 50, or give a limit to "
         "find the highest that keeps it: slo p99<50ms.");
  }
  if (rate && (!std::isfinite(*rate) || *rate <= 0 || *rate > kMostRate)) {
    fail(ErrorKind::usage, "rate: {:g} is not valid. Write a number of queries a second above 0, at most {:.0f}.",
         *rate, kMostRate);
  }
}

void check_wait(const Scenario& scenario, std::int64_t batch) {
  if (!scenario.batch_wait_seconds) return;
  const auto wait = *scenario.batch_wait_seconds;
  if (!std::isfinite(wait) || wait <= 0 || wait > kMostWaitSeconds) {
    fail(ErrorKind::usage, "batch_wait: {:g} s is not valid. Write a time above 0, at most {:g} s, such as 2ms.", wait,
         kMostWaitSeconds);
  }
  if (scenario.kind != ScenarioKind::server) {
    fail(ErrorKind::usage, "batch_wait: {:g} s is for the scenario server; in {} no other query will come.", wait,
         name_of(scenario.kind));
  }
  if (batch == 1) {
    fail(ErrorKind::usage,
         "batch_wait: {:g} s does nothing with a batch of 1, which is full with its first query. Give a larger batch.",
         wait);
  }
}

void check_limit(const Scenario& scenario) {
  if (!scenario.limit) return;
  check(*scenario.limit, "slo");
  if (scenario.kind != ScenarioKind::offline) return;
  fail(ErrorKind::usage, "slo: {} is a limit on latency, and offline is judged by its samples a second. Leave it out.",
       title(*scenario.limit));
}

}  // namespace

std::optional<Scenario> scenario_of(const std::optional<ServerLoad>& load) {
  if (!load || load->server != kInProcess) return std::nullopt;
  const auto kind = kind_named(load->api);
  if (!kind) return std::nullopt;
  return Scenario{*kind, load->rate_per_second, load->batch_wait_seconds, load->limit};
}

void complete_arrivals(ServerLoad& load) {
  const auto kind = kind_named(load.api);
  if (!kind) return;
  const bool closed = one_after_another(*kind);
  load.arrivals = closed ? "closed" : *kind == ScenarioKind::server ? "poisson" : "bursts";
  if (closed) load.clients = 1;
}

bool one_after_another(ScenarioKind kind) {
  return kind == ScenarioKind::single_stream || kind == ScenarioKind::multi_stream;
}

bool seeks_rate(const Scenario& scenario) {
  return scenario.kind == ScenarioKind::server && !scenario.rate_per_second;
}

std::int64_t samples_of_query(ScenarioKind kind) {
  return kind == ScenarioKind::multi_stream ? kSamplesOfMultiStream : 1;
}

void check(const Scenario& scenario, std::int64_t batch) {
  check_rate(scenario);
  check_wait(scenario, batch);
  check_limit(scenario);
  const auto samples = samples_of_query(scenario.kind);
  if (one_after_another(scenario.kind) && batch > samples) {
    fail(ErrorKind::usage, "batch: {} is too large. A query of {} has {}, and one query is asked at a time.", batch,
         name_of(scenario.kind), samples == 1 ? "1 sample" : fmt::format("{} samples", samples));
  }
}

std::string title(const Scenario& scenario) {
  std::string out = name_of(scenario.kind);
  if (scenario.rate_per_second) out += fmt::format(" {:g}/s", *scenario.rate_per_second);
  if (scenario.batch_wait_seconds) out += fmt::format(" wait {:g}ms", *scenario.batch_wait_seconds * 1e3);
  if (scenario.limit) out += " " + title(*scenario.limit);
  return out;
}

}  // namespace assay
