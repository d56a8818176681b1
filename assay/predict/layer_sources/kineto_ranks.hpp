#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/predict/layer_source.hpp"
#include "assay/predict/traces/trace_files.hpp"

namespace assay::predict {

constexpr std::size_t kMostRankSteps = 100;

/// A step that a rank's profile marks.
struct RankStep {
  std::string name;  ///< "ProfilerStep#551"; where steps are not marked, all of the profile is one
  double seconds = 0;
  LayerTable table;
};

/// What is needed of the profile of one rank to join it with others, much less than the profile itself.
struct RankSteps {
  FileOfJob file;
  std::vector<RankStep> steps;
};

/// Of what PyTorch's profiler wrote of one rank, packed by gzip or not. Throws Error{bad_input} for what is not such a
/// trace, or has more than kMostRankSteps.
RankSteps rank_steps(std::string_view text, const std::string& name, std::int64_t batch);

/// One table for a job from the profiles of its ranks: of the step that all of them have and that is of median length,
/// by its slowest rank. Every time is the median over the ranks. Where ranks have other layers (stages of a pipeline,
/// embeddings that are split), it is the table of the rank that computes longest, which the others wait for.
///
/// Throws Error{usage} where two profiles are of the same rank, of jobs of different sizes, or have no step in common,
/// and Error{bad_input} where a rank has no backward pass or no sizes of gradients. Precondition: at least one rank.
LayerTable joined_layers(std::vector<RankSteps> ranks);

/// Throws Error{bad_input} that begins with `name` where a table has no backward pass, or no sizes of gradients.
void need_training(const LayerTable& table, const std::string& name);

}  // namespace assay::predict
