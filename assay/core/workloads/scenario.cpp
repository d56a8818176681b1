#include "assay/core/workloads/scenario.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "assay/core/text/number.hpp"

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

constexpr std::string_view kWaitWord = "batch_wait_ns=";
constexpr std::string_view kLimitWord = "_ns=";  // after p99

/// What ServerLoad::api says of a load in process.
struct Words {
  std::string name;
  std::optional<std::int64_t> batch_wait_ns;
  std::optional<std::pair<std::int64_t, std::int64_t>> limit;  ///< percent, and nanoseconds
};

/// False for a word that nobody knows.
bool read_word(const std::string& word, Words& words) {
  if (word.starts_with(kWaitWord)) {
    words.batch_wait_ns = parse_number<std::int64_t>(word.substr(kWaitWord.size()));
    return words.batch_wait_ns.has_value();
  }
  const auto at = word.find(kLimitWord);
  if (at == std::string::npos || !word.starts_with('p')) return false;
  const auto percent = parse_number<std::int64_t>(word.substr(1, at - 1));
  const auto ns = parse_number<std::int64_t>(word.substr(at + kLimitWord.size()));
  if (percent && ns) words.limit = {*percent, *ns};
  return words.limit.has_value();
}

std::optional<Words> read_words(const std::string& api) {
  Words words;
  auto end = std::min(api.find(' '), api.size());
  words.name = api.substr(0, end);
  while (end < api.size()) {
    const auto begin = end + 1;
    end = std::min(api.find(' ', begin), api.size());
    if (!read_word(api.substr(begin, end - begin), words)) return std::nullopt;
  }
  return words;
}

void write_words(ServerLoad& load, const Words& words) {
  load.api = words.name;
  if (words.batch_wait_ns) load.api += fmt::format(" {}{}", kWaitWord, *words.batch_wait_ns);
  if (words.limit) load.api += fmt::format(" p{}{}{}", words.limit->first, kLimitWord, words.limit->second);
}

std::int64_t ns_of_seconds(double seconds) {
  return std::llround(std::clamp(seconds, -1e9, 1e9) * 1e9);
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

void set_scenario(ServerLoad& load, const std::string& name) {
  auto words = read_words(load.api).value_or(Words{});
  words.name = name;
  write_words(load, words);
}

void set_batch_wait(ServerLoad& load, const std::optional<double>& seconds) {
  auto words = read_words(load.api).value_or(Words{});
  words.batch_wait_ns = seconds ? std::optional(ns_of_seconds(*seconds)) : std::nullopt;
  write_words(load, words);
}

void set_limit(ServerLoad& load, const TailLimit& limit) {
  auto words = read_words(load.api).value_or(Words{});
  words.limit = {limit.percent, ns_of_seconds(limit.seconds)};
  write_words(load, words);
}

std::optional<Scenario> scenario_of(const std::optional<ServerLoad>& load) {
  if (!load || load->server != kInProcess) return std::nullopt;
  const auto words = read_words(load->api);
  const auto kind = words ? kind_named(words->name) : std::nullopt;
  if (!kind) return std::nullopt;
  Scenario scenario{*kind, load->rate_per_second};
  if (words->batch_wait_ns) scenario.batch_wait_seconds = static_cast<double>(*words->batch_wait_ns) / 1e9;
  if (words->limit) scenario.limit = TailLimit{words->limit->first, static_cast<double>(words->limit->second) / 1e9};
  return scenario;
}

void complete_arrivals(ServerLoad& load) {
  const auto words = read_words(load.api);
  const auto kind = words ? kind_named(words->name) : std::nullopt;
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
