#pragma once

#include <cstdint>
#include <vector>

#include "assay/predict/serving/request_lengths.hpp"
#include "assay/predict/serving/step_table.hpp"

namespace assay::predict {

/// How requests find a replica.
enum class Routing { round_robin, least_work };

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::Routing> {
  static constexpr std::array<const char*, 2> names{"round_robin", "least_work"};
};

namespace assay::predict {

/// What one server may hold and do at once.
struct ServerLimits {
  std::int64_t batch = 256;         ///< sequences that run at once
  std::int64_t step_tokens = 8192;  ///< tokens of a step, of prompts and of decoding sequences together
  std::int64_t cache_tokens = 1'000'000;
};

/// What comes: a fixed number of clients that send the next request when they have an answer, or arrivals by chance.
struct ServingLoad {
  std::int64_t requests = 1000;
  std::int64_t prompt_tokens = 1024;  ///< on average
  std::int64_t output_tokens = 256;   ///< on average
  double rate = 0;                    ///< requests a second, Poisson; 0: a closed loop
  std::int64_t concurrency = 1;       ///< of a closed loop
  std::uint64_t seed = 1;
  LengthSpread lengths = {};
};

struct Servers {
  std::int64_t replicas = 1;
  Routing routing = Routing::least_work;
  std::int64_t prefill_replicas = 0;  ///< servers that do prompts alone and hand them on; 0: each does both
  double hand_over_seconds = 0;       ///< until the cache of a prompt of mean length is where it decodes
  ServerLimits limits;
};

/// A request that was served.
struct ServedRequest {
  double arrival = 0;
  double begin = 0;        ///< of the step that computed the first of its prompt; until then it was in the queue
  double first_token = 0;  ///< the time at which it was there
  double finish = 0;
  std::int64_t output_tokens = 0;  ///< that it got
  std::int64_t evictions = 0;
};

/// What a simulation saw. Shares of requests are over those after a tenth of them, in which queues fill.
struct ServingSimulation {
  std::vector<ServedRequest> requests;
  std::int64_t steps = 0;
  std::int64_t decoded_tokens = 0;  ///< tokens that steps made, of which evictions lose none
  std::int64_t evictions = 0;
  double seconds = 0;  ///< until the last answer
  double largest_batch = 0;
  double mean_batch = 0;  ///< of decoding sequences, over steps

  double queue_quantile(double share) const;
  double first_token_quantile(double share) const;
  double token_quantile(double share) const;
  double mean_first_token() const;
  double mean_token() const;
  double tokens_per_second() const;  ///< of all servers, over the requests that count
};

/// Plays the load through the servers, step by step. The same seed gives the same answer. A request that does not fit
/// into an empty cache throws Error{usage}.
ServingSimulation simulate_serving(const StepTable& table, const Servers& servers, const ServingLoad& load);

}  // namespace assay::predict
