#pragma once

#include <memory>

#include "workers/libtorch/model.hpp"
#include "workers/libtorch/network.hpp"

namespace assay::libtorch {

/// Steps of a model: plain, by phases, and by the graph's nodes.
class Steps {
 public:
  virtual ~Steps() = default;
  /// Empty where a step is not split so; likewise layers().
  virtual std::vector<std::string> phases() const { return {}; }
  /// Names for step_with_layers(); `network` is what they are the nodes of.
  virtual std::vector<std::string> layers(const Network&) const { return {}; }

  virtual void step() = 0;
  virtual void step_with_phases(worker::Step&) { worker::refuse("phases: a step is not split."); }
  virtual void step_with_layers(const Network&, worker::Step&) { worker::refuse("layers: a step is not split."); }
  /// What the last step of inference computed.
  virtual Tensor output() const { return {}; }
  /// Of steps that learn.
  virtual worker::Scored score() { worker::refuse("score: nothing is learnt here."); }
};

/// Both keep a reference to `model`.
std::unique_ptr<Steps> make_inference(Model& model);
std::unique_ptr<Steps> make_training(Model& model);

/// Losses before each update and after the last, and norms of the first gradients.
worker::Evaluated train(Network& network, const worker::Evaluate& asked);

}  // namespace assay::libtorch
