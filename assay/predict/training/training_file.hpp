#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/predict/search/split.hpp"

namespace assay::predict {

/// A part of a training with one length of sequences and one batch.
struct TrainingStage {
  double tokens = 0;
  std::int64_t sequence = 0;
  std::int64_t batch = 0;               ///< sequences of a step
  std::optional<std::int64_t> devices;  ///< null: those of the whole training
  std::optional<Split> split;           ///< null: the best is sought. Data and microbatches follow from the rest.
};

/// A training as a file states it. docs/plan.md has every key.
struct TrainingFile {
  std::string name;
  std::vector<TrainingStage> stages;
  std::optional<std::int64_t> devices;  ///< null: all of the cluster
  StepPrecision precision = StepPrecision::bf16;
  std::optional<double> checkpoint_seconds;  ///< null: from the cluster's storage
  std::optional<double> interval_seconds;    ///< null: the best
  std::optional<double> restart_seconds;     ///< null: a usual one, which is said
  std::optional<std::int64_t> spare_nodes;   ///< null: a broken node always has a replacement
  std::optional<double> repair_seconds;
};

/// Throws Error{usage} "file:line:column: what, the value, the fix".
TrainingFile parse_training(std::string_view text, const std::string& file_name);

/// The same from a file of at most 1 MiB.
TrainingFile read_training(const std::string& path);

/// "15.6T", "300B", "2M", "40 k" or a plain number: tokens as people write them. Throws Error{usage} that names `what`.
double parse_tokens(const std::string& text, const std::string& what);

}  // namespace assay::predict
