#include "workers/libtorch/learning.hpp"

#include <c10/core/InferenceMode.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

#include <utility>

#include "workers/libtorch/digits_text.hpp"

namespace assay::libtorch {
namespace {

using worker::Lessons;

constexpr int kWarmUpSteps = 3;  // libraries choose their kernels and allocate what every step needs

worker::Prepare for_inference(worker::Prepare prepare) {
  prepare.workload.mode = Mode::infer;
  return prepare;
}

std::unique_ptr<torch::optim::Optimizer> optimizer_of(const Learning& how, const Model& model) {
  namespace optim = torch::optim;
  if (how.optimizer == Optimizer::sgd) {
    const auto options = optim::SGDOptions(how.learning_rate).momentum(Lessons::kMomentum);
    return std::make_unique<optim::SGD>(model.parameters(), options);
  }
  const auto options =
      optim::AdamOptions(how.learning_rate).betas({Lessons::kBeta1, Lessons::kBeta2}).eps(Lessons::kEpsilon);
  return std::make_unique<optim::Adam>(model.parameters(), options);
}

}  // namespace

bool learns(const worker::Prepare& prepare) {
  return prepare.workload.data == kDigits;
}

LearningSteps::LearningSteps(const worker::Prepare& prepare)
    : lessons_(prepare, graph_of(prepare), kDigitsText), trained_(prepare), judged_(for_inference(prepare)) {
  const auto& held_out = lessons_.held_out();
  judged_.show(held_out.images, held_out.labels);
  right_ = tensor_of(held_out.labels);
  for (int i = 0; i < kWarmUpSteps; ++i) {
    begin();
    step();
  }
  begin();
}

/// From the first weights and the first batch on.
void LearningSteps::begin() {
  trained_.fill_again();
  lessons_.begin();
  optimizer_ = optimizer_of(lessons_.how(), trained_);
  losses_.clear();
}

void LearningSteps::step() {
  const auto batch = lessons_.next();
  trained_.show(batch.images, batch.labels);
  const Tensor loss = trained_.loss(trained_.forward());
  loss.backward();
  optimizer_->step();
  optimizer_->zero_grad();
  losses_.push_back(loss.detach());
}

worker::Scored LearningSteps::score() {
  judged_.fill_as(trained_);
  const c10::InferenceMode inferring;
  const Tensor found = judged_.forward().argmax(-1);
  worker::Scored scored{found.eq(right_).sum().item<std::int64_t>(), right_.numel(), {}};
  for (const auto& loss : std::exchange(losses_, {})) scored.losses.push_back(loss.item<double>());
  lessons_.turn();
  return scored;
}

}  // namespace assay::libtorch
