// Operators on sequences, as those of operators.cpp.

#include "workers/openvino/making.hpp"

namespace assay::openvino {
namespace {

Output to_sequence(const GraphNode& node, const Inputs& in, Building& building) {
  const auto pixels = reshaped(in[0], {building.batch(), node.shape.at(1), node.shape.at(0)});
  return make<op::Transpose>(pixels, integers({0, 2, 1}));
}

}  // namespace

const std::map<std::string, Operator>& sequence_operators() {
  static const std::map<std::string, Operator> table{
      {"to_sequence", to_sequence},
  };
  return table;
}

}  // namespace assay::openvino
