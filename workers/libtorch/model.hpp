#pragma once

#include "workers/libtorch/tensors.hpp"

namespace assay::libtorch {

/// What a step runs, on a fixed batch.
class Model {
 public:
  virtual ~Model() = default;

  /// The forward pass. An output that is no single tensor is undefined here.
  virtual Tensor forward() = 0;
  virtual Tensor loss(const Tensor& output) const = 0;
  /// Each once, to be updated when training.
  virtual Tensors parameters() const = 0;

  std::int64_t parameter_count() const {
    std::int64_t count = 0;
    for (const auto& parameter : parameters()) count += parameter.numel();
    return count;
  }
};

}  // namespace assay::libtorch
