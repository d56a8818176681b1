#pragma once

#include <memory>

#include "workers/libtorch/model.hpp"
#include "workers/libtorch/network.hpp"

namespace assay::libtorch {

/// Steps of a model: plain, by phases, and by the graph's nodes.
class Steps {
 public:
  virtual ~Steps() = default;
  virtual std::vector<std::string> phases() const = 0;
  /// Names for step_with_layers(); `network` is what they are the nodes of.
  virtual std::vector<std::string> layers(const Network& network) const = 0;

  virtual void step() = 0;
  virtual void step_with_phases(worker::Step& step) = 0;
  virtual void step_with_layers(const Network& network, worker::Step& step) = 0;
  /// What the last step of inference computed.
  virtual Tensor output() const { return {}; }
};

/// Both keep a reference to `model`.
std::unique_ptr<Steps> make_inference(Model& model);
std::unique_ptr<Steps> make_training(Model& model);

/// Losses before each update and after the last, and norms of the first gradients.
worker::Evaluated train(Network& network, const worker::Evaluate& asked);

}  // namespace assay::libtorch
