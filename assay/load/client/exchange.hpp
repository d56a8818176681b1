#pragma once

#include <string>

#include "assay/load/client/completion.hpp"
#include "assay/load/client/event_stream.hpp"
#include "assay/load/client/http_reader.hpp"
#include "assay/load/queries/request.hpp"

namespace assay::load {

/// Reads the response to one request at a time, and stamps the request with what comes when. Knows no sockets: bytes
/// and times are given.
class Exchange : private BodySink {
 public:
  explicit Exchange(Api api) : api_(api), http_(*this) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// The next bytes are of the response to `request`, which must live until the response has ended.
  void begin(Request& request);

  /// Bytes that came by now. True where the response has ended, well or not.
  bool read(std::string_view bytes, std::int64_t now_ns);

  /// The connection has ended; by a reset where `reset`.
  void end(bool reset, std::int64_t now_ns);

  /// How it ended, once read() returned true or after end().
  RequestOutcome outcome() const { return outcome_; }
  /// Whether the connection may carry another request.
  bool keeps_connection() const { return http_.keeps_connection() && !surplus_; }
  /// Whether a byte of the response has come.
  bool begun() const { return request_ != nullptr && request_->first_byte_ns.has_value(); }

 private:
  static constexpr std::size_t kMostBody = 4U << 20U;

  void head(int status, bool event_stream) override;
  bool body(std::string_view bytes) override;
  bool event(std::string_view data);
  void keep(const CompletionPart& part);
  RequestOutcome judge_complete();

  Api api_;
  HttpReader http_;
  EventStream events_;
  Request* request_ = nullptr;
  RequestOutcome outcome_ = RequestOutcome::ok;
  RequestOutcome refusal_ = RequestOutcome::ok;
  bool streams_ = false;
  bool done_ = false;     ///< the stream said [DONE]
  bool surplus_ = false;  ///< bytes followed the response
  std::int64_t now_ns_ = 0;
  std::string whole_;  ///< a body that is not a stream
};

}  // namespace assay::load
