#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"
#include "assay/core/workloads/tail_limit.hpp"

namespace assay {

/// How a server is loaded: the workload of `assay load`, whose computation is the server's own.
struct ServerLoad {
  std::string server;  ///< http://HOST[:PORT]/PATH, without what follows a ?
  std::string api;     ///< completions, chat or http; in process, the name of a scenario
  /// Program and arguments of the server where Assay starts it, in fresh processes for each run; null: it was there.
  std::optional<std::vector<std::string>> start;
  std::optional<std::string> model;  ///< as requests name it
  bool stream = false;
  bool ignore_eos = false;                 ///< all output tokens are asked for
  std::optional<std::string> body_hash;    ///< of what plain requests post; null: GET
  std::string arrivals;                    ///< poisson, constant, bursts, trace, conversations or closed
  std::optional<double> rate_per_second;   ///< null where clients or a trace set the pace
  std::optional<std::int64_t> clients;     ///< of a closed loop
  std::optional<std::int64_t> burst;       ///< requests that arrive at the same time
  std::optional<std::int64_t> turns;       ///< of each conversation
  std::optional<double> turn_gap_seconds;  ///< from one turn of a conversation to the next
  std::optional<std::string> trace_hash;   ///< of the file of times and lengths
  std::optional<double> duration_seconds;  ///< after the warm-up; null where a number of requests is asked for
  std::optional<std::int64_t> requests;    ///< that are counted
  double warm_up_seconds = 0;
  std::int64_t input_words = 0;  ///< of each prompt; a server counts its tokens itself
  std::int64_t output_tokens = 0;
  std::int64_t prefix_words = 0;            ///< that all prompts begin with
  std::optional<std::int64_t> connections;  ///< at most, at once; null: 4096
  std::optional<std::string> client;        ///< another program that sent, with its release; null: Assay
  /// In process: how long the oldest query waits for others to fill its batch; null: a free worker begins at once.
  std::optional<double> batch_wait_seconds;
  std::optional<TailLimit> limit;  ///< in process: on latency
};

template <typename V>
void describe(V& v, ServerLoad& l) {
  required(v, "server", l.server);
  required(v, "api", l.api);
  v("start", l.start);
  v("model", l.model);
  v("stream", l.stream);
  v("ignore_eos", l.ignore_eos);
  v("body_hash", l.body_hash);
  required(v, "arrivals", l.arrivals);
  v("rate_per_second", l.rate_per_second);
  v("clients", l.clients);
  v("burst", l.burst);
  v("turns", l.turns);
  v("turn_gap_seconds", l.turn_gap_seconds);
  v("trace_hash", l.trace_hash);
  v("duration_seconds", l.duration_seconds);
  v("requests", l.requests);
  v("warm_up_seconds", l.warm_up_seconds);
  v("input_words", l.input_words);
  v("output_tokens", l.output_tokens);
  v("prefix_words", l.prefix_words);
  v("connections", l.connections);
  v("client", l.client);
  v("batch_wait_seconds", l.batch_wait_seconds);
  v("limit", l.limit);
}

/// What a run of `assay load` leaves besides its samples, which are latencies from the schedule.
struct LoadRun {
  std::int64_t seed = 0;              ///< that its schedule was drawn from
  json point = json::object();        ///< what was found: a point of load.schema.json
  std::optional<json> certification;  ///< the client alone on the same schedule: a point, too
  /// Stamps of every request as CSV, warm-up included, in the columns that `assay load --stamps` writes; null where
  /// there are more than a record holds.
  std::optional<std::string> stamps;
};

template <typename V>
void describe(V& v, LoadRun& l) {
  v("seed", l.seed);
  v("point", l.point);
  v("certification", l.certification);
  v("stamps", l.stamps);
}

/// "completions tiny 128+64, poisson 5/s": one line for a person, with the server after it.
std::string title(const ServerLoad& load);

}  // namespace assay
