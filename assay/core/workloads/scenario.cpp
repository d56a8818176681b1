#include "assay/core/workloads/scenario.hpp"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

constexpr std::int64_t kSamplesOfMultiStream = 8;  // MLPerf's
constexpr double kMostRate = 1e6;

std::optional<ScenarioKind> kind_named(const std::string& name) {
  const auto& names = EnumNames<ScenarioKind>::names;
  const auto* const at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? std::nullopt : std::optional(static_cast<ScenarioKind>(at - names.begin()));
}

}  // namespace

std::optional<Scenario> scenario_of(const std::optional<ServerLoad>& load) {
  if (!load || load->server != kInProcess) return std::nullopt;
  const auto kind = kind_named(load->api);
  return kind ? std::optional(Scenario{*kind, load->rate_per_second}) : std::nullopt;
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

std::int64_t samples_of_query(ScenarioKind kind) {
  return kind == ScenarioKind::multi_stream ? kSamplesOfMultiStream : 1;
}

void check(const Scenario& scenario, std::int64_t batch) {
  const auto& rate = scenario.rate_per_second;
  const bool is_server = scenario.kind == ScenarioKind::server;
  if (rate && !is_server) {
    fail(ErrorKind::usage, "rate: {:g} a second is for the scenario server; in {} the worker sets the pace.", *rate,
         name_of(scenario.kind));
  }
  if (!rate && is_server) {
    fail(ErrorKind::usage, "rate: the scenario server needs one. Say how many queries arrive in a second, such as 50.");
  }
  if (rate && (!std::isfinite(*rate) || *rate <= 0 || *rate > kMostRate)) {
    fail(ErrorKind::usage, "rate: {:g} is not valid. Write a number of queries a second above 0, at most {:.0f}.",
         *rate, kMostRate);
  }
  const auto samples = samples_of_query(scenario.kind);
  if (one_after_another(scenario.kind) && batch > samples) {
    fail(ErrorKind::usage, "batch: {} is too large. A query of {} has {}, and one query is asked at a time.", batch,
         name_of(scenario.kind), samples == 1 ? "1 sample" : fmt::format("{} samples", samples));
  }
}

std::string title(const Scenario& scenario) {
  std::string out = name_of(scenario.kind);
  if (scenario.rate_per_second) out += fmt::format(" {:g}/s", *scenario.rate_per_second);
  return out;
}

}  // namespace assay
