#pragma once

#include <vector>

#include <ATen/ATen.h>

#include "workers/common/values.hpp"
#include "workers/common/worker.hpp"

namespace assay::libtorch {

using at::Tensor;
using Tensors = std::vector<Tensor>;

/// In which precision and order of dimensions tensors lie.
struct Form {
  at::ScalarType precision = at::kFloat;
  bool channels_last = false;

  /// Real values take the precision, integers stay; images take the order.
  Tensor of(const Tensor& tensor) const;
};

/// What `prepare` asks for. Throws Refused by name for a precision or layout that is unknown here.
Form form_of(const worker::Prepare& prepare);

/// A tensor of libtorch's on a copy of `value`.
Tensor tensor_of(const worker::Value& value);

/// "nchw" or "nhwc" as the strides of the first image say; empty where no input is an image.
std::string layout_of(const Tensors& inputs);

}  // namespace assay::libtorch
