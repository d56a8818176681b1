#pragma once

#include "assay/predict/simulation/simulation.hpp"

namespace assay::predict {

/// Simulates one iteration of data-parallel training. The collective of a bucket begins when the bucket is ready on all
/// nodes and the one before it has ended. Messages between nodes are simulated, each distinct step of the collective
/// once; messages inside of a node cost by formula, latency + bytes / bandwidth. Adding up is not counted.
/// Once in a process, since SimGrid allows one engine. Throws Error{usage} where the request is out of range.
SimulationAnswer simulate(const SimulationRequest& request);

}  // namespace assay::predict
