#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/core/text/json.hpp"

namespace assay::load {

/// How a request ended.
enum class RequestOutcome {
  ok,
  unsent,          ///< due, and not sent when the run ended
  pending,         ///< sent, and not answered when the run ended
  cannot_connect,  ///< the server took no connection
  reset,           ///< the server broke the connection off
  closed_early,    ///< the connection ended within the response
  timed_out,       ///< no complete response within the limit
  http_error,      ///< a status other than 2xx
  redirected,      ///< a status 3xx, which is not followed
  bad_response,    ///< bytes that are not HTTP/1.1
  bad_stream,      ///< an event that is not valid JSON, or a stream without its end
  too_large,       ///< a header, line or body beyond its limit
  server_error,    ///< an error that the server sent inside of a response with status 200
  failed,          ///< for a reason that another program, which sent it, does not say
};

}  // namespace assay::load

template <>
struct assay::EnumNames<assay::load::RequestOutcome> {
  static constexpr std::array<const char*, 14> names{
      "ok",         "unsent",     "pending",      "cannot_connect", "reset",     "closed_early", "timed_out",
      "http_error", "redirected", "bad_response", "bad_stream",     "too_large", "server_error", "failed"};
};

namespace assay::load {

/// A request with its stamps in nanoseconds since the run began. What did not happen is null.
struct Request {
  std::int64_t due_ns = 0;                     ///< when the schedule asked for it
  std::optional<std::int64_t> noticed_ns;      ///< when the client saw that it was due
  std::optional<std::int64_t> connected_ns;    ///< when it had a connection, new or kept
  std::optional<std::int64_t> sent_ns;         ///< when its last byte was given to the kernel
  std::optional<std::int64_t> first_byte_ns;   ///< of the response
  std::optional<std::int64_t> first_token_ns;  ///< the first piece of text
  std::optional<std::int64_t> last_token_ns;   ///< the last piece of text
  std::optional<std::int64_t> finished_ns;     ///< the end of the response, or of the attempt
  RequestOutcome outcome = RequestOutcome::unsent;
  bool warm_up = false;
  bool kept_connection = false;               ///< sent on a connection that an earlier request had opened
  std::int64_t status = 0;                    ///< of HTTP; 0 where there was none
  std::int64_t chunks = 0;                    ///< pieces of text that came; not tokens
  std::int64_t bytes = 0;                     ///< of the body
  std::optional<std::int64_t> input_tokens;   ///< by the server's `usage`
  std::optional<std::int64_t> output_tokens;  ///< by the server's `usage`
  std::optional<std::int64_t> cached_tokens;  ///< of the input, by the server's `usage`
};

/// A time of a request that can have a limit.
enum class Metric {
  ttft,     ///< to the first token
  latency,  ///< to the end of the response
  tpot,     ///< for each token after the first, by the server's count of tokens
};

}  // namespace assay::load

template <>
struct assay::EnumNames<assay::load::Metric> {
  static constexpr std::array<const char*, 3> names{"ttft", "latency", "tpot"};
};

namespace assay::load {

/// From which moment a time counts.
enum class Since { schedule, send };

/// The time of a request that went well; null where it has none, as a response without text has no first token.
/// A tpot does not depend on `since`.
std::optional<double> time_ns(const Request& request, Metric metric, Since since = Since::schedule);

/// How late the client was: from the schedule until it saw that the request was due. Null where it never did.
std::optional<std::int64_t> lateness_ns(const Request& request);

}  // namespace assay::load
