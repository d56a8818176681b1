#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/predict/serving/server_simulation.hpp"
#include "assay/predict/serving/stacks/stack_group.hpp"

namespace assay::predict {

/// A time of a request that may have a limit.
enum class ServedTime { ttft, latency, tpot };

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::ServedTime> {
  static constexpr std::array<const char*, 3> names{"ttft", "latency", "tpot"};
};

namespace assay::predict {

/// A limit on a quantile of a time.
struct ServingLimit {
  ServedTime time = ServedTime::ttft;
  double quantile = 0.99;
  double seconds = 1;
};

template <typename V>
void describe(V& v, ServingLimit& l) {
  required(v, "time", l.time);
  required(v, "quantile", l.quantile);
  required(v, "seconds", l.seconds);
}

/// What is asked of servers of one kind: a model in one type, on one device, with one software stack.
struct CapacityQuestion {
  ServedModel model;  ///< its tensor split and the bytes of its cache are set from what is tried
  FittedStack stack;
  ServingLoad load;  ///< of all servers together
  std::vector<ServingLimit> limits;
  bool disaggregated = false;         ///< prompts on servers of their own
  std::int64_t most_sequences = 256;  ///< that a server runs at once
  Routing routing = Routing::least_work;
  std::optional<std::int64_t> step_tokens;  ///< of a step; null: 8192, or twice the sequences where that is more
  std::int64_t most_replicas = 4096;        ///< beyond which nothing is tried
  std::optional<double> price_per_hour;     ///< of one device
};

/// Quantiles of a time.
struct TimeQuantiles {
  double p50 = 0;
  double p99 = 0;
};

template <typename V>
void describe(V& v, TimeQuantiles& q) {
  required(v, "p50", q.p50);
  required(v, "p99", q.p99);
}

/// The fewest servers of one kind that hold a load, or why none do.
struct CapacityOption {
  std::string device;
  std::int64_t tensor = 1;
  std::int64_t replicas = 0;  ///< 0: none, for the reason in `refused`
  /// Replicas where each step takes as much less or more as the stack's range says; null where none hold it then.
  std::optional<std::int64_t> replicas_low;
  std::optional<std::int64_t> replicas_high;
  std::int64_t prefill_replicas = 0;
  std::int64_t devices = 0;  ///< of all servers
  /// Requests a second that one server holds within the limits; null in a closed loop and where prompts are apart.
  std::optional<double> rate_per_server;
  TimeQuantiles queue_seconds;  ///< from an arrival until a step computes the first of its prompt
  TimeQuantiles first_token_seconds;
  TimeQuantiles token_seconds;
  TimeQuantiles latency_seconds;
  double tokens_per_second = 0;  ///< of the answers, all servers together
  double mean_batch = 0;         ///< of sequences that decode, in one server
  double room = 0;               ///< sequences of this length for which a server has room
  double busy = 0;               ///< share of the time in which a server computes
  StepParts step;                ///< of a decode step at the mean batch
  double fixed_seconds = 0;      ///< that the software adds to it
  double prompt_share = 0;       ///< of a server's busy time that goes to prompts
  std::string limit;             ///< what takes most of the time, or holds the batch small
  double device_hours_per_million_tokens = 0;
  double kwh_per_million_tokens = 0;  ///< at the devices' board power: a bound from above
  std::optional<double> price_per_million_tokens;
  std::string refused;
};

template <typename V>
void describe(V& v, CapacityOption& o) {
  required(v, "device", o.device);
  required(v, "tensor", o.tensor);
  required(v, "replicas", o.replicas);
  v("replicas_low", o.replicas_low);
  v("replicas_high", o.replicas_high);
  v("prefill_replicas", o.prefill_replicas);
  v("devices", o.devices);
  v("rate_per_server", o.rate_per_server);
  v("queue_seconds", o.queue_seconds);
  v("first_token_seconds", o.first_token_seconds);
  v("token_seconds", o.token_seconds);
  v("latency_seconds", o.latency_seconds);
  v("tokens_per_second", o.tokens_per_second);
  v("mean_batch", o.mean_batch);
  v("room", o.room);
  v("busy", o.busy);
  v("step", o.step);
  v("fixed_seconds", o.fixed_seconds);
  v("prompt_share", o.prompt_share);
  v("limit", o.limit);
  v("device_hours_per_million_tokens", o.device_hours_per_million_tokens);
  v("kwh_per_million_tokens", o.kwh_per_million_tokens);
  v("price_per_million_tokens", o.price_per_million_tokens);
  v("refused", o.refused);
}

/// The fewest servers on this device and tensor split, by simulation. Never throws for what cannot be served so.
CapacityOption find_capacity(const CapacityQuestion& question, const KernelTimes& times, std::int64_t tensor);

/// Whether a simulation keeps every limit.
bool holds(const ServingSimulation& seen, const std::vector<ServingLimit>& limits);

}  // namespace assay::predict
