#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "assay/predict/simulation/simulated_cost.hpp"
#include "cli/commands/predict/predict_pictures.hpp"
#include "cli/commands/predict/predict_transformer.hpp"

#include "cli/flags/answer.hpp"

namespace assay::cli {

/// What is asked of a model of the catalogue or of a config.json besides what every split transformer has.
struct ModelFlags {
  std::string node;
  std::string rail;
  std::int64_t context = 1;
  std::int64_t experts = 1;
  std::string shard;
  std::string schedule = "1f1b";
  bool async_tensor = false;
  bool explicit_scores = false;
};

void add_model_flags(CLI::App& command, ModelFlags& flags);

/// Whether the command names a model of the catalogue, or a config.json, rather than a network of ours: then the step
/// is that of assay/predict/step. A network of ours that is also in the catalogue is one where --node was given.
bool is_model_asked(const CLI::App& command, const std::string& network);

/// Throws Error{usage} that names the first of those flags that was given: for anything but a model.
void refuse_model_flags(const CLI::App& command);

/// What the other flags of `assay predict` say.
struct ModelJob {
  std::string network;
  std::string cluster;
  std::string devices;
  std::string precision;  ///< empty: bf16
  std::string calibrate;  ///< measured jobs, read by `columns`
  std::string columns;
  std::string store;      ///< where the prediction is kept; empty: nowhere
  std::string trace;      ///< a file for the schedule of the last number of devices; empty: none
  PictureFiles pictures;  ///< of the step of the last number of devices, and of the memory of all
  bool simulate = false;
  predict::Adversity adversity;  ///< of a simulation; its nodes are stages
};

/// Predicts the step and prints it. Throws Error{usage} where a flag is missing, changes nothing, or numbers do not
/// divide, with those that do.
void print_model(const CLI::App& command, const ModelFlags& model, const TransformerFlags& split, const ModelJob& job,
                 const AnswerFlags& wanted);

}  // namespace assay::cli
