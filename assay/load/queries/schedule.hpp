#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay::load {

/// How requests arrive at a server.
enum class ArrivalKind {
  poisson,        ///< independent of each other, at a mean rate
  constant,       ///< at equal distances
  bursts,         ///< several at the same time; bursts arrive as poisson
  trace,          ///< at the times of a file
  conversations,  ///< of several turns; each turn repeats the text of those before it
  closed,         ///< a number of clients, each of which sends once its last request has ended
};

}  // namespace assay::load

template <>
struct assay::EnumNames<assay::load::ArrivalKind> {
  static constexpr std::array<const char*, 6> names{"poisson", "constant",      "bursts",
                                                    "trace",   "conversations", "closed"};
};

namespace assay::load {

/// What a schedule is drawn from: the same Arrivals give the same schedule everywhere.
struct Arrivals {
  ArrivalKind kind = ArrivalKind::poisson;
  double rate_per_second = 0;              ///< mean rate of requests; 0 where clients or a trace set the pace
  std::optional<std::int64_t> clients;     ///< of a closed loop
  std::optional<std::int64_t> burst;       ///< requests that arrive at the same time
  std::optional<std::int64_t> turns;       ///< of each conversation
  std::optional<double> turn_gap_seconds;  ///< from one turn of a conversation to the next
  std::optional<std::string> trace_hash;   ///< of the file of times and lengths
  double warm_up_seconds = 0;              ///< requests that are due in it are sent and not counted
  double duration_seconds = 0;             ///< after the warm-up; 0 where a number of requests is asked for
  std::optional<std::int64_t> requests;    ///< that are counted
  std::int64_t input_words = 0;            ///< of each prompt; a server counts its tokens itself
  std::int64_t output_tokens = 0;          ///< asked for with each request
  std::int64_t prefix_words = 0;           ///< that all prompts begin with
  std::int64_t seed = 1;                   ///< everything random is drawn from it
};

template <typename V>
void describe(V& v, Arrivals& a) {
  required(v, "kind", a.kind);
  v("rate_per_second", a.rate_per_second);
  v("clients", a.clients);
  v("burst", a.burst);
  v("turns", a.turns);
  v("turn_gap_seconds", a.turn_gap_seconds);
  v("trace_hash", a.trace_hash);
  v("warm_up_seconds", a.warm_up_seconds);
  v("duration_seconds", a.duration_seconds);
  v("requests", a.requests);
  v("input_words", a.input_words);
  v("output_tokens", a.output_tokens);
  v("prefix_words", a.prefix_words);
  v("seed", a.seed);
}

/// One request of a schedule.
struct Arrival {
  std::int64_t due_ns = 0;  ///< since the run began; in a closed loop it is known only once a client is free
  std::int64_t input_words = 0;
  std::int64_t output_tokens = 0;
  std::int64_t text = 0;  ///< which prompt: turns of a conversation share it, and the later ones have more of it
  bool warm_up = false;
};

/// A time and lengths of a trace file.
struct TraceRow {
  double seconds = 0;
  std::int64_t input_words = 0;
  std::int64_t output_tokens = 0;
};

/// Reads CSV with the columns seconds, input and output, in any order and beside others; at most a million rows, whose
/// times do not decrease. The first becomes 0. Throws Error{bad_input} that names the line.
std::vector<TraceRow> parse_trace(std::string_view text);

/// The whole schedule, in order of its times, drawn before anything is sent. `trace` is for ArrivalKind::trace.
/// Throws Error{usage} where it would have more than ten million requests, or none.
std::vector<Arrival> draw_schedule(const Arrivals& arrivals, const std::vector<TraceRow>& trace = {});

}  // namespace assay::load
