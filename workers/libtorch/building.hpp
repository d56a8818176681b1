#pragma once

#include <functional>

#include "workers/common/graph_values.hpp"
#include "workers/libtorch/tensors.hpp"

namespace assay::libtorch {

using worker::GraphNode;
using Sizes = std::vector<std::int64_t>;

/// A parameter or running statistic, and its first value where that is given again.
struct Filled {
  Tensor tensor;
  std::optional<worker::Value> value;
};

/// What nodes are built from: the weights there are, in the network's precision and layout.
class Building {
 public:
  /// Keeps a reference to `values`. `keeps`: values are kept to be given again.
  Building(const worker::GraphValues& values, Form form, bool trains, bool keeps)
      : values_(values), form_(form), trains_(trains), keeps_(keeps) {}

  bool trains() const { return trains_; }
  at::ScalarType precision() const { return form_.precision; }

  /// A parameter of `node`; none where the node has none of this name.
  std::optional<Tensor> optional_parameter(const GraphNode& node, const std::string& name);
  /// The same; throws where there is none.
  Tensor parameter(const GraphNode& node, const std::string& name);
  /// The node's own weight, or that of the node it shares it with, which was built before.
  Tensor weight(const GraphNode& node);
  /// "mean" or "variance" of a batch norm.
  Tensor statistic(const GraphNode& node, const std::string& which);
  /// A table that is no parameter.
  Tensor table(const std::vector<float>& numbers, const Sizes& shape) const;
  /// Zeros that are no parameter.
  Tensor zeros(const Sizes& shape) const { return at::zeros(shape, form_.precision); }

  /// By the graph's names, in its order; a shared one once.
  const std::vector<std::pair<std::string, Tensor>>& parameters() const { return parameters_; }
  const std::vector<Filled>& filled() const { return filled_; }

 private:
  Tensor keep(const worker::Value& value);

  const worker::GraphValues& values_;
  Form form_;
  bool trains_, keeps_;
  std::vector<std::pair<std::string, Tensor>> parameters_;
  std::vector<Filled> filled_;
  std::map<std::string, Tensor> weights_;  ///< by owner
};

/// A node as it is computed, of its inputs with the batch in front.
using Call = std::function<Tensor(const Tensors&)>;
using Operator = Call (*)(const GraphNode& node, Building& building);
using Table = std::map<std::string, Operator>;

/// The operators of graphs by name, each as libtorch's own.
const Table& operators();

/// An activation that writes over its input; none where there is no such form of it.
Operator overwriting(const std::string& op);
/// Whether an operator does not need its output for the backward pass, so that what follows may write over it.
bool keeps_no_output(const std::string& op);

/// Parts of operators().
Table convolution_operators();
Table norm_operators();
Table activation_operators();
Table pool_operators();
Table shape_operators();
Table sequence_operators();
Table recurrent_operators();

}  // namespace assay::libtorch
