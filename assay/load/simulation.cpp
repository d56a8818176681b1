#include "assay/load/simulation.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace assay::load {
namespace {

/// Whichever is due first is on top.
template <typename T>
using Earliest = std::priority_queue<T, std::vector<T>, std::greater<>>;

class Simulation {
 public:
  Simulation(const QueueServer& server, std::vector<Arrival> schedule, const Ledger::Rules& rules,
             const SimulatedPause& pause)
      : server_(server), pause_(pause), ledger_(std::move(schedule), rules) {
    for (std::int64_t i = 0; i < server.workers; ++i) free_at_.push(0);
  }

  Sent run() {
    while (!ledger_.complete()) {
      now_ns_ = next_time();
      while (!ends_.empty() && ends_.top().first <= now_ns_) {
        const auto [end, index] = ends_.top();
        ends_.pop();
        auto& request = ledger_.at(index);
        request.first_byte_ns = request.first_token_ns = request.last_token_ns = end;
        ledger_.finish(index, RequestOutcome::ok, end);
      }
      if (paused(now_ns_)) continue;
      ledger_.notice(now_ns_);
      while (const auto index = ledger_.take()) send(*index);
    }
    return sent();
  }

 private:
  bool paused(std::int64_t ns) const { return ns >= pause_.at_ns && ns < pause_.at_ns + pause_.length_ns; }

  /// Of the next end of a service, or of the next deadline that the client is awake for.
  std::int64_t next_time() const {
    auto next = ends_.empty() ? INT64_MAX : ends_.top().first;
    if (auto due = ledger_.next_due()) {
      if (paused(*due)) due = pause_.at_ns + pause_.length_ns;
      next = std::min(next, *due);
    }
    return std::max(next, now_ns_);
  }

  void send(std::size_t index) {
    auto begin = now_ns_;
    ledger_.at(index).connected_ns = ledger_.at(index).sent_ns = begin;
    if (server_.workers > 0) {
      begin = std::max(begin, free_at_.top());
      free_at_.pop();
    }
    const auto stall_end = server_.stall_at_ns + server_.stall_ns;
    if (begin >= server_.stall_at_ns && begin < stall_end) begin = stall_end;
    const auto end = begin + server_.service_ns(index);
    if (server_.workers > 0) free_at_.push(end);
    ends_.push({end, index});
  }

  /// As the real client leaves it; windows have the lateness of requests alone.
  Sent sent() {
    Sent sent;
    sent.elapsed_ns = now_ns_;
    ledger_.close(now_ns_);
    sent.requests = ledger_.requests();
    sent.most_under_way = static_cast<std::int64_t>(ledger_.most_under_way());
    sent.waited = static_cast<std::int64_t>(ledger_.waited());
    return sent;
  }

  QueueServer server_;
  SimulatedPause pause_;
  Ledger ledger_;
  Earliest<std::int64_t> free_at_;
  Earliest<std::pair<std::int64_t, std::size_t>> ends_;
  std::int64_t now_ns_ = 0;
};

}  // namespace

Sent simulate_schedule(const QueueServer& server, std::vector<Arrival> schedule, const Ledger::Rules& rules,
                       const SimulatedPause& pause) {
  return Simulation(server, std::move(schedule), rules, pause).run();
}

}  // namespace assay::load
