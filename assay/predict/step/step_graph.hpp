#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/predict/step/step_law.hpp"

namespace assay::predict {

/// What runs its nodes one after the other, in the order in which the graph has them; each stage has one of each.
enum class StepStream {
  compute,
  sums,       ///< of a tensor group
  shards,     ///< gathers and scatters of FSDP
  exchange,   ///< among experts, and along the context
  copies,     ///< from stage to stage
  gradients,  ///< over replicas
};

constexpr std::size_t kStepStreams = 6;

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::StepStream> {
  static constexpr std::array<const char*, assay::predict::kStepStreams> names{"compute",  "sums",   "shards",
                                                                               "exchange", "copies", "gradients"};
};

namespace assay::predict {

/// A node begins no earlier than so long after another has begun: for an end, the other's own seconds.
struct StepEdge {
  std::size_t node = 0;
  double lag_seconds = 0;
};

/// Work of one stage on one of its streams. Layers that are alike are one node with a count.
struct StepNode {
  const char* name = "";
  std::int64_t stage = 0;
  StepStream stream = StepStream::compute;
  double seconds = 0;
  double layers = 0;             ///< that it is the work of; 0: of none
  std::int64_t microbatch = -1;  ///< -1: of all
  std::vector<StepEdge> after;
};

/// A step: every node is after those that it waits for.
struct StepGraph {
  std::int64_t stages = 1;
  std::vector<StepNode> nodes;
};

struct StepSchedule {
  std::vector<double> begin_seconds;  ///< of each node
  double seconds = 0;                 ///< until the last one ends
};

/// Each node begins as soon as its stream is free and all that it waits for allows it.
StepSchedule schedule(const StepGraph& graph);

/// Every time `factor` times as long.
void scale(StepGraph& graph, double factor);

constexpr std::size_t kMostStepNodes = 60'000;

/// The step of one replica, whose stages are each one device of its tensor, context and shard group; the others do the
/// same at the same time. Layers are nodes of their own where that makes no more than `most_nodes`, else a pass of a
/// stage is one for each stream. Microbatches are taken as whole. Throws Error{usage} where a node for each pass is
/// more than that, or interleaved stages do not divide the microbatches.
StepGraph step_graph(const StepWork& work, const StepPlan& plan, const StepConstants& constants,
                     std::size_t most_nodes = kMostStepNodes);

}  // namespace assay::predict
