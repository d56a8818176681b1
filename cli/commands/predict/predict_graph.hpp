#pragma once

#include <string>

#include "assay/predict/scaling.hpp"
#include "assay/predict/simulation/simulated_cost.hpp"
#include "assay/predict/step/rows_prediction.hpp"
#include "assay/predict/step/step_graph.hpp"

namespace assay::cli {

/// The graph of a job's step, with the factor that measured jobs of its kind have. Throws Error{usage} where it cannot
/// be scheduled or is too large.
predict::StepGraph graph_of(const predict::Stack& stack, const predict::JobRow& row);

/// Writes the schedule of the last row's graph as a Chrome trace, and a note where it takes longer than was predicted.
void write_step_trace(const std::string& path, const predict::StepGraph& graph, predict::RowsPrediction& said);

/// Has `assay-simulate` play the graph of every row: all that a stage sends at once shares its links. Nodes of the
/// adversity are stages. Throws Error{usage} where it changes nothing.
void simulate_rows(const predict::Stack& stack, const predict::JobRows& jobs, const predict::Adversity& adversity,
                   predict::RowsPrediction& said);

/// As a store keeps predictions, so that --score joins it with what was measured. Throws Error{usage} where a device's
/// batch is not a whole number of sequences.
predict::ScalingPrediction kept_form(const predict::RowsPrediction& said, const predict::JobRows& jobs,
                                     const std::string& machine, std::int64_t global_batch);

}  // namespace assay::cli
