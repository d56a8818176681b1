#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/network/graph.hpp"
#include "assay/network/onnx/model.hpp"

namespace assay::network::onnx {

/// What is known of a value before the network runs.
struct Value {
  std::optional<Shape> shape;                         ///< with the batch in front, where it has one
  std::optional<std::vector<std::int64_t>> integers;  ///< where it is part of the arithmetic of shapes
  bool constant = false;                              ///< follows from the file alone, whatever the input
};

/// Shapes of all values, by what operators do with shapes. Where a file leaves the batch open it is 1.
struct Values {
  std::map<std::string, Value> by_name;
  std::int64_t batch = 1;    ///< of the first input
  std::vector<bool> needed;  ///< by node: whether an output of the network follows from it

  /// Of what is left out (an empty name) nothing is known.
  const Value& of(const std::string& name) const;
};

/// Throws Error{bad_input} where nodes do not stand in an order in which they can be computed, or shapes contradict
/// each other. What an operator does that is not known here leaves its output without a shape, unless the file says it.
Values infer_values(const Model& model);

/// Number of values of a shape; 0 where a dimension is. Throws Error{bad_input} beyond 2^40.
std::int64_t count_of(const Shape& shape);

}  // namespace assay::network::onnx
