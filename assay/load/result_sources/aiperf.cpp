#include <cmath>

#include "assay/core/error.hpp"
#include "assay/load/result_source.hpp"

namespace assay::load::result_sources {
namespace {

constexpr std::size_t kMostAiperfLine = 4U << 20U;
constexpr std::int64_t kLatestNs = std::int64_t{1} << 62U;

/// A line of profile_export.jsonl, as far as it is used.
struct Metadata {
  std::optional<std::int64_t> credit_issued_ns;
  std::int64_t request_start_ns = 0;
  std::optional<std::int64_t> request_ack_ns;
  std::int64_t request_end_ns = 0;
  std::string benchmark_phase;
  bool was_cancelled = false;
};

template <typename V>
void describe(V& v, Metadata& m) {
  v("credit_issued_ns", m.credit_issued_ns);
  required(v, "request_start_ns", m.request_start_ns);
  v("request_ack_ns", m.request_ack_ns);
  required(v, "request_end_ns", m.request_end_ns);
  v("benchmark_phase", m.benchmark_phase);
  v("was_cancelled", m.was_cancelled);
}

/// A number of the map of metrics, in nanoseconds or as a count.
std::optional<double> metric_of(const json& line, const char* name) {
  const auto metrics = line.find("metrics");
  if (metrics == line.end() || !metrics->is_object()) return std::nullopt;
  const auto metric = metrics->find(name);
  if (metric == metrics->end() || !metric->is_object()) return std::nullopt;
  const auto value = metric->find("value");
  const auto unit = metric->value("unit", json());
  if (value == metric->end() || !value->is_number()) return std::nullopt;
  const double scale = unit == "ms" ? 1e6 : unit == "us" ? 1e3 : unit == "sec" || unit == "s" ? 1e9 : 1;
  const double number = value->get<double>() * scale;
  return number >= 0 && number < 1e18 ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> count_of(const json& line, const char* name) {
  const auto number = metric_of(line, name);
  return number ? std::optional<std::int64_t>(std::llround(*number)) : std::nullopt;
}

Request aiperf_request(const json& line, const std::string& place) {
  Metadata metadata;
  const auto it = line.find("metadata");
  if (it == line.end() || !it->is_object()) fail(ErrorKind::bad_input, "{}: it has no metadata.", place);
  from_json_value(*it, place, metadata);
  for (const auto ns : {metadata.credit_issued_ns.value_or(0), metadata.request_ack_ns.value_or(0),
                        metadata.request_start_ns, metadata.request_end_ns}) {
    if (ns < 0 || ns > kLatestNs) fail(ErrorKind::bad_input, "{}: a time of {} ns is not valid.", place, ns);
  }
  Request request;
  request.due_ns = metadata.credit_issued_ns.value_or(metadata.request_start_ns);
  request.noticed_ns = request.sent_ns = metadata.request_start_ns;
  request.first_byte_ns = metadata.request_ack_ns;
  request.finished_ns = metadata.request_end_ns;
  request.warm_up = metadata.benchmark_phase == "warmup";
  const auto error = line.find("error");
  const bool failed = error != line.end() && !error->is_null();
  request.outcome = failed                   ? RequestOutcome::failed
                    : metadata.was_cancelled ? RequestOutcome::timed_out
                                             : RequestOutcome::ok;
  // Times of AIPerf count from the send.
  if (const auto first = metric_of(line, "time_to_first_token")) {
    request.first_token_ns = *request.sent_ns + std::llround(*first);
    request.last_token_ns = request.finished_ns;
  }
  request.input_tokens = count_of(line, "usage_prompt_tokens");
  if (!request.input_tokens) request.input_tokens = count_of(line, "input_sequence_length");
  request.output_tokens = count_of(line, "usage_completion_tokens");
  if (!request.output_tokens) request.output_tokens = count_of(line, "output_sequence_length");
  return request;
}

}  // namespace

bool is_aiperf(std::string_view text) {
  const auto line = text.substr(0, std::min(text.find('\n'), std::size_t{4096}));
  return line.starts_with('{') && line.find("\"metadata\"") != std::string_view::npos &&
         line.find("\"session_num\"") != std::string_view::npos;
}

std::vector<ImportedRun> read_aiperf(std::string_view text) {
  ImportedRun run;
  run.client = "AIPerf";
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(" \r\t") == std::string_view::npos) continue;
    const auto place = fmt::format("line {}", number);
    if (line.size() > kMostAiperfLine)
      fail(ErrorKind::bad_input, "{}: it is longer than {} bytes.", place, kMostAiperfLine);
    if (run.requests.size() == kMostRequests) {
      fail(ErrorKind::bad_input, "the file has more than {} requests.", kMostRequests);
    }
    const auto value = parse_json(line, {.bytes = kMostAiperfLine});
    if (!value.is_object()) fail(ErrorKind::bad_input, "{}: it is not an object.", place);
    run.requests.push_back(aiperf_request(value, place));
  }
  from_first_due(run.requests);
  run.arrivals.kind = ArrivalKind::trace;  // the file does not say how they were drawn
  if (run.requests.empty()) return {};
  return {run};
}

}  // namespace assay::load::result_sources
