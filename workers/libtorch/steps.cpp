#include "workers/libtorch/steps.hpp"

#include <c10/core/InferenceMode.h>
#include <torch/optim/sgd.h>

#include <algorithm>

#include "assay/core/clock.hpp"
#include "workers/libtorch/backward_marks.hpp"

namespace assay::libtorch {
namespace {

// On a fixed batch, 0.01 makes resnet50 learn one image in four steps, and what follows is arithmetic on zeros.
constexpr double kLearningRate = 1e-5;
constexpr double kMomentum = 0.9;

std::vector<std::string> node_names(const Network& network) {
  std::vector<std::string> names;
  for (const auto& node : network.nodes()) names.push_back(node.name);
  return names;
}

class Inference : public Steps {
 public:
  explicit Inference(Model& model) : model_(model) {}

  std::vector<std::string> phases() const override { return {"forward"}; }
  std::vector<std::string> layers(const Network& network) const override { return node_names(network); }

  void step() override {
    const c10::InferenceMode inferring;
    output_.reset();  // what the last step left is given back in this one: no memory for two is needed
    output_ = model_.forward();
  }

  void step_with_phases(worker::Step& step) override {
    const std::int64_t begin_ns = monotonic_ns();
    this->step();
    step.phases_ns[0] = monotonic_ns() - begin_ns;
  }

  void step_with_layers(const Network& network, worker::Step& step) override {
    const c10::InferenceMode inferring;
    network.begin(slots_);
    for (std::size_t i = 0; i < network.nodes().size(); ++i) {
      const std::int64_t begin_ns = monotonic_ns();
      Network::run(network.nodes()[i], slots_);
      step.forward_ns[i] = monotonic_ns() - begin_ns;
    }
    network.end(slots_);
  }

  Tensor output() const override { return output_; }

 private:
  Model& model_;
  Tensor output_;
  Tensors slots_;
};

torch::optim::SGD make_optimizer(const Model& model, double rate, double momentum) {
  return torch::optim::SGD(model.parameters(), torch::optim::SGDOptions(rate).momentum(momentum));
}

class Training : public Steps {
 public:
  explicit Training(Model& model) : model_(model), optimizer_(make_optimizer(model, kLearningRate, kMomentum)) {}

  std::vector<std::string> phases() const override { return {"forward", "backward", "update"}; }

  std::vector<std::string> layers(const Network& network) const override {
    auto names = node_names(network);
    names.insert(names.end(), {"loss", "update"});
    return names;
  }

  void step() override {
    model_.loss(model_.forward()).backward();
    update();
  }

  void step_with_phases(worker::Step& step) override {
    const std::int64_t begin_ns = monotonic_ns();
    Tensor loss = model_.loss(model_.forward());
    const std::int64_t forward_ns = monotonic_ns();
    loss.backward();
    loss.reset();
    const std::int64_t backward_ns = monotonic_ns();
    update();
    step.phases_ns = {forward_ns - begin_ns, backward_ns - forward_ns, monotonic_ns() - backward_ns};
  }

  /// The step itself, one node at a time. In its one backward pass autograd tells when it comes to one.
  void step_with_layers(const Network& network, worker::Step& step) override {
    const auto& nodes = network.nodes();
    BackwardMarks marks;
    network.begin(slots_);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto before = BackwardMarks::functions_of(nodes[i], slots_);  // an activation may overwrite its input
      const std::int64_t begin_ns = monotonic_ns();
      Network::run(nodes[i], slots_);
      step.forward_ns[i] = monotonic_ns() - begin_ns;
      marks.watch(i, before, slots_[nodes[i].output]);
    }
    const std::int64_t begin_ns = monotonic_ns();
    Tensor loss = model_.loss(network.end(slots_));
    const std::int64_t loss_ns = monotonic_ns();
    loss.backward();
    loss.reset();
    const std::int64_t backward_ns = monotonic_ns();
    update();
    step.forward_ns[nodes.size()] = loss_ns - begin_ns;
    step.forward_ns[nodes.size() + 1] = monotonic_ns() - backward_ns;
    marks.split(loss_ns, backward_ns, step.backward_ns);
  }

 private:
  void update() {
    optimizer_.step();
    optimizer_.zero_grad();
  }

  Model& model_;
  torch::optim::SGD optimizer_;
  Tensors slots_;
};

std::map<std::string, double> gradient_norms(const Network& network) {
  std::map<std::string, double> norms;
  for (const auto& [name, parameter] : network.named_parameters()) {
    if (!parameter.grad().defined()) throw std::runtime_error(fmt::format("{} got no gradient", name));
    norms[name] = parameter.grad().to(at::kDouble).norm().item<double>();
  }
  return norms;
}

}  // namespace

std::unique_ptr<Steps> make_inference(Model& model) {
  return std::make_unique<Inference>(model);
}

std::unique_ptr<Steps> make_training(Model& model) {
  return std::make_unique<Training>(model);
}

worker::Evaluated train(Network& network, const worker::Evaluate& asked) {
  network.fill_again();  // steps may have been measured
  auto optimizer = make_optimizer(network, asked.learning_rate, asked.momentum);
  worker::Evaluated found;
  const std::int64_t passes = std::max<std::int64_t>(1, asked.updates);  // the first gradient is always wanted
  for (std::int64_t i = 0; i < passes; ++i) {
    const Tensor loss = network.loss(network.forward());
    loss.backward();
    found.losses.push_back(loss.item<double>());
    if (i == 0) found.gradient_norms = gradient_norms(network);
    if (asked.updates > 0) optimizer.step();
    optimizer.zero_grad();
  }
  if (asked.updates > 0) {
    const at::NoGradGuard no_grad;
    found.losses.push_back(network.loss(network.forward()).item<double>());
  }
  return found;
}

}  // namespace assay::libtorch
