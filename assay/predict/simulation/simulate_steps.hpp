#pragma once

#include <cstdint>
#include <vector>

#include "assay/predict/simulation/simulation.hpp"

namespace assay::predict {

/// For each node the node it sends to, or kNobody.
using SimulatedSends = std::vector<std::int32_t>;
constexpr std::int32_t kNobody = -1;

/// A step of a collective: messages that leave together, all of the same size; the next step waits for the last of
/// them. Steps with the same messages are one, with a count.
struct SimulatedStep {
  double times = 1;          ///< how often it is made
  double share = 1;          ///< of the bucket's bytes, in each message
  bool inside = false;       ///< some messages stay inside of nodes
  SimulatedSends sends;      ///< between nodes; none where all stay inside
  std::int64_t streams = 1;  ///< messages on each pair of `sends`, on the same link
};

/// The steps of an all_reduce, each with distinct messages. Precondition: check_simulation() accepts the request.
std::vector<SimulatedStep> simulated_steps(const SimulationRequest& request);

}  // namespace assay::predict
