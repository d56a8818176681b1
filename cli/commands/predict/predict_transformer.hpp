#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/predict/transformer/transformer_scaling.hpp"

namespace assay::cli {

/// What a transformer is and how it is split, as flags say it.
struct TransformerFlags {
  predict::TransformerShape shape;  ///< 0: as the network has it
  predict::TransformerPlan plan;
  std::string recompute = "none";
  std::int64_t global_batch = 0;
};

void add_transformer_flags(CLI::App& command, TransformerFlags& flags);

/// Whether one of those flags was given: then the step is that of a split transformer.
bool is_transformer_asked(const CLI::App& command);

/// Options that change what is predicted of a split transformer.
std::vector<std::string> effective_for_split(const CLI::App& command);

/// What the other flags of `assay predict` say.
struct TransformerJob {
  std::string network;
  std::vector<std::string> options;
  std::string cluster;
  std::string devices;
  std::int64_t zero = 0;
  double samples = 0;
};

/// Throws Error{usage} where the shape is not known, or numbers do not divide, with those that do.
predict::TransformerPrediction predict_split_transformer(const TransformerFlags& flags, const TransformerJob& job);

}  // namespace assay::cli
