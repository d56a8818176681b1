#pragma once

#include <openvino/opsets/opset14.hpp>

#include "workers/openvino/operators.hpp"

/// How nodes and constants of OpenVINO's are made.
namespace assay::openvino {

namespace op = ov::opset14;
using worker::GraphNode;

inline Output integers(const std::vector<std::int64_t>& values) {
  return op::Constant::create(ov::element::i64, {values.size()}, values);
}

inline Output integer(std::int64_t value) {
  return op::Constant::create(ov::element::i64, {}, {value});
}

template <typename Op, typename... Arguments>
Output make(Arguments&&... arguments) {
  return std::make_shared<Op>(std::forward<Arguments>(arguments)...)->output(0);
}

inline Output reshaped(const Output& x, const std::vector<std::int64_t>& shape) {
  return make<op::Reshape>(x, integers(shape), false);
}

}  // namespace assay::openvino
