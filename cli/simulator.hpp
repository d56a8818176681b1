#pragma once

#include "assay/predict/simulation/graph_simulation.hpp"
#include "assay/predict/simulation/simulation.hpp"

namespace assay::cli {

/// Has `assay-simulate` in the libexec folder simulate an iteration. Throws Error with what it said where it fails, and
/// where Assay was built without SimGrid.
predict::SimulationAnswer simulate_iteration(const predict::SimulationRequest& request);

/// The same for the graph of a step.
predict::GraphAnswer simulate_step(const predict::GraphRequest& request);

}  // namespace assay::cli
