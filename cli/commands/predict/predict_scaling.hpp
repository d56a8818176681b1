#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "assay/predict/simulation/simulated_cost.hpp"
#include "cli/commands/predict/predict_accuracy.hpp"
#include "cli/commands/predict/predict_practice.hpp"

#include "cli/flags/answer.hpp"

namespace assay::cli {

/// What is simulated, and what stands in its way, as flags say it.
struct SimulationFlags {
  bool simulate = false;
  std::vector<std::string> stragglers;
  std::vector<std::string> background;
};

void add_simulation_flags(CLI::App& command, SimulationFlags& flags);

/// Throws Error{usage} where something would stand in the way of no simulation.
void check_simulated(const SimulationFlags& flags);

/// --straggler NODE=FACTOR and --background FROM-TO=FLOWS.
predict::Adversity adversity_of(const SimulationFlags& flags);

/// A job of synchronous SGD on a cluster, as flags say it.
struct ScalingFlags {
  PredictSource source;
  std::string cluster;
  std::string devices;
  double samples = 0;  ///< 0: nobody says how many
  PracticeFlags practice;
  SimulationFlags simulation;
  AccuracyFlags accuracy;
  std::string trace;   ///< a file for one iteration of the last number of devices; empty: none
  std::string replay;  ///< a file for workers that replay it; empty: none
};

/// Predicts how the job scales, keeps and writes what was asked, and prints it.
void print_scaling(const ScalingFlags& flags, const AnswerFlags& wanted);

}  // namespace assay::cli
