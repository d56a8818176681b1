#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace assay::load {

/// What the built-in server does with a request: it waits and answers, and computes nothing.
struct NullService {
  std::int64_t port = 0;         ///< 0: any that is free
  std::int64_t workers = 0;      ///< requests that are served at once, the others in the order of their arrival; 0: all
  std::int64_t service_ns = 0;   ///< that each request takes
  std::int64_t chunks = 0;       ///< of a streamed answer; 0: as many as the tokens that were asked for
  std::int64_t gap_ns = 0;       ///< between chunks
  std::int64_t tokens = 1;       ///< that each chunk counts as in `usage`
  std::int64_t stall_at_ns = 0;  ///< since the first request
  std::int64_t stall_ns = 0;     ///< in which no service begins
};

/// Reads "port=18080,workers=1,service=2ms,chunks=16,gap=5ms,tokens=1,stall-at=2s,stall=1s", any part of it. Throws
/// Error{usage}.
NullService parse_null_service(const std::string& text);

/// A server on 127.0.0.1 that answers every request: completions and chat as OpenAI's, streamed or not, and "ok" to
/// everything else. It runs in a thread of its own until it is destroyed.
class NullServer {
 public:
  /// Throws Error where the port is taken.
  explicit NullServer(const NullService& service);
  ~NullServer();
  NullServer(const NullServer&) = delete;
  NullServer& operator=(const NullServer&) = delete;

  std::string url() const;  ///< http://127.0.0.1:PORT
  std::int64_t served() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace assay::load
