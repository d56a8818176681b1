#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::load {

/// Takes the body of a response while it comes.
class BodySink {
 public:
  virtual ~BodySink() = default;
  /// The head is complete: what its status and type are.
  virtual void head(int status, bool event_stream) = 0;
  /// The next bytes of the body. False refuses more: the response has failed.
  virtual bool body(std::string_view bytes) = 0;
};

/// Reads a response of HTTP/1.1 piece by piece: any cut of the bytes gives the same. Holds at most one header or one
/// line of chunk sizes, within limits.
class HttpReader {
 public:
  enum class State {
    head,       ///< the head is not complete
    body,       ///< the body is not complete
    complete,   ///< the response is complete; what followed it was not read
    bad,        ///< bytes that are not HTTP/1.1
    too_large,  ///< a head, a chunk size or a trailer beyond its limit
    refused,    ///< the sink refused the body
  };

  explicit HttpReader(BodySink& sink) : sink_(&sink) {}

  /// Forgets everything: the next byte begins a response.
  void begin();

  /// Reads bytes; returns how many belong to this response, which is all of them unless it is complete or has failed.
  std::size_t read(std::string_view bytes);

  /// The connection has ended. Completes a body whose end is the end of the connection.
  void end();

  State state() const { return state_; }
  int status() const { return status_; }
  /// Whether the connection may carry another request after this response.
  bool keeps_connection() const { return keeps_; }

 private:
  enum class Part { size, data, data_end, trailer };

  std::size_t read_head(std::string_view bytes);
  void parse_head(std::string_view head);
  bool parse_status(std::string_view line);
  void parse_field(std::string_view line);
  void begin_body();
  std::size_t read_body(std::string_view bytes);
  std::size_t read_chunked(std::string_view bytes);
  std::size_t read_line(std::string_view bytes, bool& whole);
  void chunk_line();
  void deliver(std::string_view bytes);
  void stop(State state) { state_ = state; }

  BodySink* sink_;
  State state_ = State::head;
  std::string held_;  ///< of a head or a line that is not complete
  int status_ = 0;
  bool keeps_ = true;
  bool chunked_ = false;
  bool event_stream_ = false;
  std::optional<std::uint64_t> length_;  ///< by Content-Length
  std::uint64_t left_ = 0;               ///< of the body, or of a chunk
  Part part_ = Part::size;
  std::size_t trailer_bytes_ = 0;
};

}  // namespace assay::load
