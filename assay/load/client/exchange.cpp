#include "assay/load/client/exchange.hpp"

namespace assay::load {

void Exchange::begin(Request& request) {
  request_ = &request;
  http_.begin();
  events_.begin();
  outcome_ = refusal_ = RequestOutcome::ok;
  streams_ = done_ = surplus_ = false;
  whole_.clear();
}

bool Exchange::read(std::string_view bytes, std::int64_t now_ns) {
  now_ns_ = now_ns;
  if (!request_->first_byte_ns) request_->first_byte_ns = now_ns;
  surplus_ = http_.read(bytes) < bytes.size();
  request_->status = http_.status();
  switch (http_.state()) {
    case HttpReader::State::head:
    case HttpReader::State::body:
      return false;
    case HttpReader::State::complete:
      outcome_ = judge_complete();
      return true;
    case HttpReader::State::bad:
      outcome_ = RequestOutcome::bad_response;
      return true;
    case HttpReader::State::too_large:
      outcome_ = RequestOutcome::too_large;
      return true;
    case HttpReader::State::refused:
      outcome_ = refusal_;
      return true;
  }
  return true;
}

void Exchange::end(bool reset, std::int64_t now_ns) {
  now_ns_ = now_ns;
  if (reset) {
    outcome_ = RequestOutcome::reset;
    return;
  }
  http_.end();
  outcome_ = http_.state() == HttpReader::State::complete ? judge_complete() : RequestOutcome::closed_early;
}

void Exchange::head(int status, bool event_stream) {
  streams_ = event_stream && api_ != Api::http && status >= 200 && status < 300;
}

bool Exchange::body(std::string_view bytes) {
  request_->bytes += static_cast<std::int64_t>(bytes.size());
  if (streams_) {
    const bool goes_on = events_.read(bytes, [this](std::string_view data) { return event(data); });
    if (!goes_on && refusal_ == RequestOutcome::ok) refusal_ = RequestOutcome::too_large;
    return goes_on;
  }
  if (api_ == Api::http || http_.status() >= 300) return true;  // counted, not kept
  if (whole_.size() + bytes.size() > kMostBody) {
    refusal_ = RequestOutcome::too_large;
    return false;
  }
  whole_.append(bytes);
  return true;
}

bool Exchange::event(std::string_view data) {
  if (done_) return true;
  if (data == "[DONE]") {
    done_ = true;
    return true;
  }
  const auto part = read_completion(data);
  if (!part.valid || part.is_error) {
    refusal_ = part.valid ? RequestOutcome::server_error : RequestOutcome::bad_stream;
    return false;
  }
  keep(part);
  return true;
}

void Exchange::keep(const CompletionPart& part) {
  if (part.has_text) {
    ++request_->chunks;
    if (!request_->first_token_ns) request_->first_token_ns = now_ns_;
    request_->last_token_ns = now_ns_;
  }
  if (part.input_tokens) request_->input_tokens = part.input_tokens;
  if (part.output_tokens) request_->output_tokens = part.output_tokens;
  if (part.cached_tokens) request_->cached_tokens = part.cached_tokens;
}

RequestOutcome Exchange::judge_complete() {
  const auto status = http_.status();
  if (status >= 300 && status < 400) return RequestOutcome::redirected;
  if (status >= 400 || status < 200) return RequestOutcome::http_error;
  if (api_ == Api::http) return RequestOutcome::ok;
  if (streams_) return done_ ? RequestOutcome::ok : RequestOutcome::bad_stream;
  auto part = read_completion(whole_);
  if (!part.valid) return RequestOutcome::bad_stream;
  if (part.is_error) return RequestOutcome::server_error;
  part.has_text = false;  // a body that comes at once has no first token
  keep(part);
  return RequestOutcome::ok;
}

}  // namespace assay::load
