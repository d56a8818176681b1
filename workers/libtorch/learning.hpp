#pragma once

#include <torch/optim/optimizer.h>

#include "workers/common/digits.hpp"
#include "workers/libtorch/network.hpp"
#include "workers/libtorch/steps.hpp"

namespace assay::libtorch {

/// Whether a network is trained on digits.
bool learns(const worker::Prepare& prepare);

/// Steps that learn digits: each on a batch of its own, with an optimizer that people train with. They are not split.
class LearningSteps : public Steps {
 public:
  /// Refuses by name what cannot learn. Some steps are taken, which leave no trace.
  explicit LearningSteps(const worker::Prepare& prepare);

  void step() override;
  worker::Scored score() override;
  std::int64_t parameter_count() const { return trained_.parameter_count(); }
  const Tensors& inputs() const { return trained_.inputs(); }

 private:
  void begin();

  worker::Lessons lessons_;
  Network trained_;
  Network judged_;  ///< the same for inference, with weights of its own
  Tensor right_;    ///< classes of what is held out
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  Tensors losses_;  ///< of the steps since the last score
};

}  // namespace assay::libtorch
