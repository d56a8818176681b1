#pragma once

#include "workers/common/graph.hpp"
#include "workers/common/worker.hpp"

namespace assay::worker {

/// Weights and inputs of a graph: from the file of `prepare`, or drawn from its seed, each when it is asked for. What
/// is drawn is uniform and scaled as assay_graph.py does it, but from a generator of its own: the values differ. Where
/// digits are learnt, weights are those of assay_graph.py, so that all frameworks begin with the same.
class GraphValues {
 public:
  /// Keeps references to both.
  GraphValues(const Prepare& prepare, const Graph& graph);

  /// The weight or bias of a node. Throws Error{bad_input} where a file has it not, or in another shape; so below.
  Value parameter(const GraphNode& node, const GraphParameter& parameter) const;
  /// "mean" or "variance" of a batch norm.
  Value statistic(const GraphNode& node, const std::string& which) const;
  /// An input with the batch in front. Weights follow from the seed alone; inputs differ between processes.
  Value input(const GraphInput& input) const;
  /// The right classes of a network that is trained with cross entropy: one for each row of its output.
  Value target() const;

 private:
  Value from_file(const std::string& name, ValueType type, const Shape& shape) const;

  const Prepare& prepare_;
  const Graph& graph_;
  bool has_file_;
  std::map<std::string, Value> file_;
  std::set<std::string> damped_;  ///< batch norms that end a residual branch
};

/// Standard normal values, and integers from 0 on below a bound: what follows from seed, rank, instance and `name`.
Value draw_normal(const Prepare& prepare, const std::string& name, Shape shape);
Value draw_below(const Prepare& prepare, const std::string& name, Shape shape, std::int64_t below);

}  // namespace assay::worker
