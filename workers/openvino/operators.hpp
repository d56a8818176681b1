#pragma once

#include <openvino/openvino.hpp>

#include "workers/common/graph_values.hpp"

namespace assay::openvino {

using Output = ov::Output<ov::Node>;

/// What a node is built from: its description, its inputs with the batch in front, and the weights there are.
class Building {
 public:
  Building(const worker::GraphValues& values, std::int64_t batch) : values_(values), batch_(batch) {}

  std::int64_t batch() const { return batch_; }
  /// Numbers of all parameters built so far; a shared one counts once.
  std::int64_t parameters() const { return parameters_; }

  /// A parameter of `node` as a constant that shares the memory of its value. `shape` is how it is looked at, where
  /// that is not its own.
  Output parameter(const worker::GraphNode& node, const std::string& name, const ov::Shape& shape = {});
  /// The weight of the node called `owner`, which was built before.
  Output shared_weight(const std::string& owner) const;
  Output statistic(const worker::GraphNode& node, const std::string& which) const;

 private:
  const worker::GraphValues& values_;
  std::int64_t batch_;
  std::int64_t parameters_ = 0;
  std::map<std::string, Output> weights_;  ///< by owner
};

using Inputs = std::vector<Output>;
using Operator = Output (*)(const worker::GraphNode& node, const Inputs& inputs, Building& building);

/// The operators of graphs by name, each as OpenVINO's own.
const std::map<std::string, Operator>& operators();
/// Those of them that work on sequences.
const std::map<std::string, Operator>& sequence_operators();

/// A tensor of OpenVINO's on the memory of `value`.
ov::element::Type type_of(const worker::Value& value);
ov::Shape shape_of(const worker::Shape& shape);

}  // namespace assay::openvino
