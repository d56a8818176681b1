#include "assay/load/queries/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace assay::load {
namespace {

constexpr std::size_t kMostRequests = 10'000'000;

std::int64_t ns_of(double seconds) {
  return std::llround(seconds * 1e9);
}

/// Times of arrival, each drawn from the seed alone. The distributions of the standard library differ between
/// libraries, so that the exponential one is written out.
class Clock {
 public:
  Clock(std::int64_t seed, double mean_seconds, bool random)
      : random_(static_cast<std::uint64_t>(seed)), mean_seconds_(mean_seconds), is_random_(random) {}

  double next() {
    now_ += is_random_ ? -std::log(uniform()) * mean_seconds_ : mean_seconds_;
    return now_;
  }

 private:
  /// Above 0 and below 1, with 53 bits.
  double uniform() { return (static_cast<double>(random_() >> 11U) + 0.5) * 0x1p-53; }

  std::mt19937_64 random_;
  double mean_seconds_;
  bool is_random_;
  double now_ = 0;
};

/// Ends a schedule by its time or by its number of requests.
class End {
 public:
  explicit End(const Arrivals& a)
      : warm_up_ns_(ns_of(a.warm_up_seconds)),
        end_ns_(a.requests ? INT64_MAX : ns_of(a.warm_up_seconds + a.duration_seconds)),
        left_(a.requests.value_or(INT64_MAX)) {}

  bool warm_up(std::int64_t due_ns) const { return due_ns < warm_up_ns_; }

  /// Whether a request that is due then still belongs to the schedule.
  bool takes(std::int64_t due_ns) {
    if (due_ns >= end_ns_ || left_ <= 0) return false;
    if (!warm_up(due_ns)) --left_;
    return true;
  }

 private:
  std::int64_t warm_up_ns_;
  std::int64_t end_ns_;
  std::int64_t left_;
};

void check_size(std::size_t requests) {
  if (requests > kMostRequests) {
    fail(ErrorKind::usage, "the schedule has more than {} requests. Ask for a lower rate or a shorter time.",
         kMostRequests);
  }
}

/// Groups of requests: single ones, or a burst.
std::vector<Arrival> open_schedule(const Arrivals& a) {
  const auto at_once = a.kind == ArrivalKind::bursts ? a.burst.value_or(1) : 1;
  Clock clock(a.seed, static_cast<double>(at_once) / a.rate_per_second, a.kind != ArrivalKind::constant);
  End end(a);
  std::vector<Arrival> schedule;
  while (true) {
    const auto due = ns_of(clock.next());
    for (std::int64_t i = 0; i < at_once; ++i) {
      if (!end.takes(due)) return schedule;
      const auto text = static_cast<std::int64_t>(schedule.size());
      schedule.push_back({due, a.prefix_words + a.input_words, a.output_tokens, text, end.warm_up(due)});
      check_size(schedule.size());
    }
  }
}

/// Conversations begin as poisson; turns follow at equal distances, whether or not the reply has come: their deadlines
/// are absolute, like all others.
std::vector<Arrival> conversation_schedule(const Arrivals& a) {
  const auto turns = a.turns.value_or(1);
  Clock clock(a.seed, static_cast<double>(turns) / a.rate_per_second, true);
  End end(a);
  std::vector<Arrival> drawn;
  const auto gap = ns_of(a.turn_gap_seconds.value_or(0));
  // A conversation that begins before the end has all of its turns drawn; what is due later is left out below.
  const auto last = a.requests ? INT64_MAX : ns_of(a.warm_up_seconds + a.duration_seconds);
  const auto enough = a.requests ? static_cast<std::size_t>(*a.requests) + 1000 : kMostRequests;
  for (std::int64_t text = 0;; ++text) {
    const auto begin = ns_of(clock.next());
    if (begin >= last) break;
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      drawn.push_back({begin + turn * gap, a.prefix_words + (turn + 1) * a.input_words, a.output_tokens, text, false});
    }
    check_size(drawn.size());
    if (a.requests && !end.warm_up(begin) && drawn.size() >= enough + static_cast<std::size_t>(turns)) break;
  }
  std::stable_sort(drawn.begin(), drawn.end(), [](const auto& x, const auto& y) { return x.due_ns < y.due_ns; });
  std::vector<Arrival> schedule;
  for (auto& arrival : drawn) {
    if (!end.takes(arrival.due_ns)) break;
    arrival.warm_up = end.warm_up(arrival.due_ns);
    schedule.push_back(arrival);
  }
  return schedule;
}

std::vector<Arrival> trace_schedule(const Arrivals& a, const std::vector<TraceRow>& trace) {
  End end(a);
  std::vector<Arrival> schedule;
  for (const auto& row : trace) {
    const auto due = ns_of(row.seconds);
    if (!end.takes(due)) break;
    const auto text = static_cast<std::int64_t>(schedule.size());
    schedule.push_back({due, a.prefix_words + row.input_words, row.output_tokens, text, end.warm_up(due)});
  }
  return schedule;
}

/// A closed loop has no times; as many requests as could be wanted.
std::vector<Arrival> closed_schedule(const Arrivals& a) {
  // Without a number of requests the time ends the run; what was not needed by then is not a request.
  const auto count = static_cast<std::size_t>(a.requests.value_or(1'000'000));
  check_size(count);
  std::vector<Arrival> schedule;
  schedule.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    schedule.push_back({0, a.prefix_words + a.input_words, a.output_tokens, static_cast<std::int64_t>(i), false});
  }
  return schedule;
}

}  // namespace

std::vector<Arrival> draw_schedule(const Arrivals& arrivals, const std::vector<TraceRow>& trace) {
  std::vector<Arrival> schedule;
  switch (arrivals.kind) {
    case ArrivalKind::poisson:
    case ArrivalKind::constant:
    case ArrivalKind::bursts:
      schedule = open_schedule(arrivals);
      break;
    case ArrivalKind::conversations:
      schedule = conversation_schedule(arrivals);
      break;
    case ArrivalKind::trace:
      schedule = trace_schedule(arrivals, trace);
      break;
    case ArrivalKind::closed:
      schedule = closed_schedule(arrivals);
      break;
  }
  const auto counted = std::count_if(schedule.begin(), schedule.end(), [](const auto& one) { return !one.warm_up; });
  if (counted == 0) {
    fail(ErrorKind::usage, "the schedule has no request in {} s at {} a second. Ask for more time or a higher rate.",
         arrivals.duration_seconds, arrivals.rate_per_second);
  }
  return schedule;
}

}  // namespace assay::load
