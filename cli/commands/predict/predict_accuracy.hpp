#pragma once

#include <optional>

#include "assay/model/steps_needed.hpp"
#include "cli/commands/predict/predict_source.hpp"

#include "cli/flags/answer.hpp"

namespace assay::cli {

/// A training that ends at an accuracy: how many steps it needs is what runs of the store needed.
struct AccuracyFlags {
  std::string until;
  std::optional<double> learning_rate;
};

void add_accuracy_flags(CLI::App& command, AccuracyFlags& flags);

/// Whether steps are taken as they were measured, and not predicted for a cluster. Throws Error{usage} naming a flag
/// that changes nothing then, or that says nothing without --until.
bool takes_measured_steps(const CLI::App& command, const AccuracyFlags& flags, const PredictSource& source);

/// Prints what measured steps of the network come to.
void print_times_to_accuracy(const AccuracyFlags& flags, const PredictSource& source, const std::string& optimizer,
                             const AnswerFlags& wanted);

/// Adds to each predicted step what it comes to, and to the notes where the number of steps is from. Throws
/// Error{usage} where the steps needed are known for none.
void add_times_to_accuracy(const AccuracyFlags& flags, const PredictSource& source, const predict::Question& question,
                           predict::ScalingPrediction& said);

}  // namespace assay::cli
