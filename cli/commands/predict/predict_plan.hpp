#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/commands/predict/predict_pictures.hpp"
#include "cli/flags/answer.hpp"

namespace assay::cli {

/// Flags of a search for the best split, and of a whole training.
struct TrainingPlanFlags {
  bool search = false;
  std::string training;
  std::string tokens;
  std::string within;
  double price = 0;
  std::string reserve;
  std::int64_t top = 10;
  PictureFiles pictures;
};

/// What of the other flags of the command belongs to it.
struct PlanJob {
  std::string model;
  std::vector<std::string> clusters;
  std::string devices;
  std::string calibrate;  ///< measured jobs
  std::string columns;    ///< their map
  AnswerFlags answer;
};

void add_training_plan_flags(CLI::App& command, TrainingPlanFlags& flags);

/// Throws Error{usage} where flags of a plan are given without --search or --training; those of pictures are also for a
/// model's step.
bool is_plan_asked(const CLI::App& command, const TrainingPlanFlags& flags, bool is_model);

/// Prints the answer. Batch, sequence and precision are read off the command.
void print_plan(const CLI::App& command, const TrainingPlanFlags& flags, const PlanJob& job);

}  // namespace assay::cli
