#pragma once

#include <torch/csrc/jit/api/module.h>

#include "workers/libtorch/model.hpp"

namespace assay::libtorch {

/// A user's own network in a TorchScript file. Its inputs are what the options say, as the file does not.
class Script : public Model {
 public:
  /// Refuses by name a file that has changed or cannot be read, and options that describe no inputs.
  explicit Script(const worker::Prepare& prepare);

  Tensor forward() override;
  /// The mean of squares of the output, as the file has no loss. Throws Refused where the output is no tensor.
  Tensor loss(const Tensor& output) const override;
  Tensors parameters() const override;
  const Tensors& inputs() const { return inputs_; }

 private:
  torch::jit::Module module_;
  Tensors inputs_;
  c10::IValue output_;  ///< of the last forward pass
};

}  // namespace assay::libtorch
