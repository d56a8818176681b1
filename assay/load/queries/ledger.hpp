#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "assay/load/queries/request.hpp"
#include "assay/load/queries/schedule.hpp"

namespace assay::load {

/// Which request is to be sent when: the part of a client that knows neither sockets nor a clock, so that virtual time
/// and the real one run the same code. Times are nanoseconds since the run began.
class Ledger {
 public:
  /// At most `connections` requests are under way at once; the others wait, and their waiting counts. In a closed loop
  /// (`clients` above 0) each client sends when its last request has ended, until `closed_end_ns`; what is sent before
  /// `closed_warm_up_ns` is not counted.
  struct Rules {
    std::size_t connections = 4096;
    std::size_t clients = 0;
    std::int64_t closed_warm_up_ns = 0;
    std::int64_t closed_end_ns = INT64_MAX;
  };

  Ledger(std::vector<Arrival> schedule, const Rules& rules);

  /// When the next request is due that was not noticed yet; nothing if all were, or if a closed loop waits for a
  /// response.
  std::optional<std::int64_t> next_due() const;

  /// Stamps every request that is due by now.
  void notice(std::int64_t now_ns);

  /// The next request to send, of those noticed; nothing if none was noticed or all connections are in use.
  std::optional<std::size_t> take();

  /// Ends a request that was taken.
  void finish(std::size_t index, RequestOutcome outcome, std::int64_t now_ns);

  /// Whether every request has ended and none will be due.
  bool complete() const;

  /// Marks what is under way as pending and what waits as unsent; leaves out what was not due by now.
  void close(std::int64_t now_ns);

  Request& at(std::size_t index) { return requests_[index]; }
  const Arrival& arrival(std::size_t index) const { return schedule_[index]; }
  const std::vector<Request>& requests() const { return requests_; }
  std::size_t under_way() const { return under_way_; }
  std::size_t most_under_way() const { return most_under_way_; }
  /// Requests that were due while all connections were in use.
  std::size_t waited() const { return waited_; }
  /// When the last request of an open schedule is due.
  std::int64_t last_due_ns() const { return schedule_.empty() ? 0 : schedule_.back().due_ns; }

 private:
  bool closed() const { return rules_.clients > 0; }

  std::vector<Arrival> schedule_;
  Rules rules_;
  std::vector<Request> requests_;
  std::vector<bool> is_under_way_;
  std::deque<std::int64_t> free_clients_;  ///< since when each is free
  std::size_t noticed_ = 0;
  std::size_t taken_ = 0;
  std::size_t under_way_ = 0;
  std::size_t most_under_way_ = 0;
  std::size_t waited_ = 0;
  std::size_t last_waited_ = SIZE_MAX;
};

}  // namespace assay::load
