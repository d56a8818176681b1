#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "assay/predict/scaling.hpp"

#include "cli/flags/answer.hpp"

namespace assay::cli {

/// What `assay predict --score` is asked.
struct ScoreFlags {
  bool score = false;
  std::string published;
  std::vector<std::string> where;
};

void add_score_flags(CLI::App& command, ScoreFlags& flags);

/// Which of the predictions of a store are meant; an empty field means all.
struct ScoredStore {
  std::string store;
  std::string network;
  std::string cluster;  ///< a cluster file, whose name they bear
};

/// Prints how they did. Throws Error{usage} where the store has none of them.
void print_score(const ScoreFlags& flags, const ScoredStore& from, const AnswerFlags& wanted);

/// Keeps a prediction with what it was made from, and says so in its notes. One that is there and says the same keeps
/// its time: what was measured since then is later than it.
void keep_prediction(const std::string& store, const json& inputs, predict::ScalingPrediction& said);

}  // namespace assay::cli
