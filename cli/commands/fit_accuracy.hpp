#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "assay/model/prediction.hpp"
#include "assay/model/steps_needed.hpp"

namespace assay::cli {

/// A training whose step a law tells: how many steps it needs is what runs of the store needed.
struct FitAccuracyFlags {
  std::string until;
  std::vector<std::string> training;
};

void add_fit_accuracy_flags(CLI::App& command, FitAccuracyFlags& flags);

/// Throws Error{usage} where the flags say too little, or what nothing is made of: there is a time only `at` a point.
void check_fit_accuracy_flags(const FitAccuracyFlags& flags, const std::vector<std::string>& at);

/// The time to the accuracy with steps as the model says them at a point; null where it was not asked for, or the model
/// says none. Batch and rate are those of the point, or those that the model was fitted to alone.
std::optional<model::ToAccuracy> time_to_accuracy(const FitAccuracyFlags& flags, const std::string& store,
                                                  const model::Model& model, const std::vector<std::string>& at,
                                                  const model::Prediction& said);

}  // namespace assay::cli
