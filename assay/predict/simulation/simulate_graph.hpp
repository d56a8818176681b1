#pragma once

#include "assay/predict/simulation/graph_simulation.hpp"

namespace assay::predict {

/// Plays the graph of a step in SimGrid: an actor for each stream, and a link of its node and one to other nodes for
/// each stage, which tasks on them share with each other and with the background by max-min fairness. Once in a
/// process, since SimGrid allows one engine. Throws Error{usage} where the request is out of range.
GraphAnswer simulate_graph(const GraphRequest& request);

}  // namespace assay::predict
