#include <cmath>

#include "assay/core/error.hpp"
#include "assay/load/result_source.hpp"

namespace assay::load::result_sources {
namespace {

constexpr JsonLimits kReportLimits{std::size_t{1} << 30U, 64, 100'000'000};
constexpr std::int64_t kReadVersion = 2;

/// Seconds of the epoch; those that did not happen are null.
struct Timings {
  std::optional<double> targeted_start;
  std::optional<double> request_start;
  std::optional<double> first_request_iteration;
  std::optional<double> first_token_iteration;
  std::optional<double> last_token_iteration;
  std::optional<double> request_end;
  std::int64_t token_iterations = 0;
};

template <typename V>
void describe(V& v, Timings& t) {
  v("targeted_start", t.targeted_start);
  v("request_start", t.request_start);
  v("first_request_iteration", t.first_request_iteration);
  v("first_token_iteration", t.first_token_iteration);
  v("last_token_iteration", t.last_token_iteration);
  v("request_end", t.request_end);
  v("token_iterations", t.token_iterations);
}

struct Usage {
  std::optional<std::int64_t> text_tokens;
  std::optional<std::int64_t> cached_tokens;
};

template <typename V>
void describe(V& v, Usage& u) {
  v("text_tokens", u.text_tokens);
  v("cached_tokens", u.cached_tokens);
}

struct Info {
  Timings timings;
};

template <typename V>
void describe(V& v, Info& i) {
  required(v, "timings", i.timings);
}

struct Stats {
  Info info;
  Usage input_metrics;
  Usage output_metrics;
};

template <typename V>
void describe(V& v, Stats& s) {
  required(v, "info", s.info);
  v("input_metrics", s.input_metrics);
  v("output_metrics", s.output_metrics);
}

std::optional<std::int64_t> ns_of(const std::optional<double>& seconds, const std::string& place) {
  if (!seconds) return std::nullopt;
  if (!(*seconds >= 0 && *seconds < 4e9)) {
    fail(ErrorKind::bad_input, "{}: {} is not a time in seconds since 1970.", place, *seconds);
  }
  return std::llround(*seconds * 1e9);
}

std::optional<Request> guidellm_request(const json& value, const std::string& place, RequestOutcome outcome) {
  Stats stats;
  from_json_value(value, place, stats);
  const auto& timings = stats.info.timings;
  const auto ns = [&](const std::optional<double>& seconds) { return ns_of(seconds, place); };
  Request request;
  request.sent_ns = request.noticed_ns = ns(timings.request_start);
  const auto due = timings.targeted_start ? ns(timings.targeted_start) : request.sent_ns;
  if (!due) return std::nullopt;  // it was never scheduled
  request.due_ns = *due;
  request.first_byte_ns = ns(timings.first_request_iteration);
  request.first_token_ns = ns(timings.first_token_iteration);
  request.last_token_ns = ns(timings.last_token_iteration);
  request.finished_ns = ns(timings.request_end);
  request.outcome = request.sent_ns ? outcome : RequestOutcome::unsent;
  request.chunks = timings.token_iterations;
  request.input_tokens = stats.input_metrics.text_tokens;
  request.cached_tokens = stats.input_metrics.cached_tokens;
  request.output_tokens = stats.output_metrics.text_tokens;
  return request;
}

const json& member(const json& object, const char* name, const std::string& place) {
  const auto it = object.find(name);
  if (!object.is_object() || it == object.end()) fail(ErrorKind::bad_input, "{}: it has no {}.", place, name);
  return *it;
}

/// How many requests of a status there were, by the file's own totals; null where it does not say.
std::optional<std::int64_t> total_of(const json& benchmark, const char* status) {
  const auto metrics = benchmark.find("metrics");
  if (metrics == benchmark.end() || !metrics->is_object()) return std::nullopt;
  const auto totals = metrics->find("request_totals");
  if (totals == metrics->end() || !totals->is_object()) return std::nullopt;
  const auto value = totals->find(status);
  return value != totals->end() && value->is_number_integer() ? std::optional(value->get<std::int64_t>())
                                                              : std::nullopt;
}

Arrivals guidellm_arrivals(const json& benchmark) {
  Arrivals arrivals;
  arrivals.kind = ArrivalKind::trace;
  const auto config = benchmark.find("config");
  if (config == benchmark.end() || !config->is_object()) return arrivals;
  const auto strategy = config->find("strategy");
  if (strategy == config->end() || !strategy->is_object()) return arrivals;
  const auto type = strategy->value("type_", json());
  const auto rate = strategy->value("rate", json());
  const auto streams = strategy->value("streams", json());
  if (type == "poisson") arrivals.kind = ArrivalKind::poisson;
  if (type == "constant") arrivals.kind = ArrivalKind::constant;
  if (type == "concurrent" || type == "synchronous") {
    arrivals.kind = ArrivalKind::closed;
    arrivals.clients = streams.is_number_integer() ? streams.get<std::int64_t>() : 1;
  }
  if (rate.is_number() && rate.get<double>() > 0) arrivals.rate_per_second = rate.get<double>();
  return arrivals;
}

ImportedRun run_of(const json& benchmark, const std::string& client, const std::string& place) {
  ImportedRun run;
  run.client = client;
  run.arrivals = guidellm_arrivals(benchmark);
  const auto& requests = member(benchmark, "requests", place);
  const std::pair<const char*, RequestOutcome> kinds[] = {
      {"successful", RequestOutcome::ok}, {"incomplete", RequestOutcome::pending}, {"errored", RequestOutcome::failed}};
  for (const auto& [status, outcome] : kinds) {
    const auto& list = member(requests, status, place);
    if (!list.is_array()) continue;
    const auto total = total_of(benchmark, status);
    if (total && *total > std::ssize(list)) {
      fail(ErrorKind::bad_input, "{} keeps {} of {} {} requests. Let GuideLLM keep all of them (no --sample-requests).",
           place, list.size(), *total, status);
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (run.requests.size() == kMostRequests) {
        fail(ErrorKind::bad_input, "{} has more than {} requests.", place, kMostRequests);
      }
      const auto where = fmt::format("{}.requests.{}[{}]", place, status, i);
      if (const auto request = guidellm_request(list[i], where, outcome)) run.requests.push_back(*request);
    }
  }
  from_first_due(run.requests);
  return run;
}

}  // namespace

bool is_guidellm(std::string_view text) {
  return text.starts_with('{') && text.substr(0, 4096).find("\"guidellm_version\"") != std::string_view::npos;
}

std::vector<ImportedRun> read_guidellm(std::string_view text) {
  const auto document = parse_json(text, kReportLimits);
  const auto& metadata = member(document, "metadata", "the file");
  const auto version = metadata.is_object() ? metadata.value("version", json()) : json();
  if (version.is_number_integer() && version.get<std::int64_t>() > kReadVersion) {
    fail(ErrorKind::bad_input, "the report has version {}, and at most {} is read. Update Assay.",
         version.get<std::int64_t>(), kReadVersion);
  }
  const auto release = metadata.is_object() ? metadata.value("guidellm_version", json()) : json();
  const auto client = "GuideLLM" + (release.is_string() ? " " + release.get<std::string>().substr(0, 40) : "");
  const auto& benchmarks = member(document, "benchmarks", "the file");
  std::vector<ImportedRun> runs;
  if (!benchmarks.is_array()) fail(ErrorKind::bad_input, "benchmarks: it is not a list.");
  for (std::size_t i = 0; i < benchmarks.size(); ++i) {
    auto run = run_of(benchmarks[i], client, fmt::format("benchmarks[{}]", i));
    if (!run.requests.empty()) runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace assay::load::result_sources
