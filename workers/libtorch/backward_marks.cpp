#include "workers/libtorch/backward_marks.hpp"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/node.h>

#include <algorithm>

#include "assay/core/clock.hpp"

namespace assay::libtorch {
namespace {

using Marks = std::vector<std::pair<std::int64_t, std::size_t>>;

class Mark : public torch::autograd::FunctionPreHook {
 public:
  Mark(Marks& marks, std::size_t index) : marks_(marks), index_(index) {}

  torch::autograd::variable_list operator()(const torch::autograd::variable_list& gradients) override {
    marks_.emplace_back(monotonic_ns(), index_);
    return gradients;
  }

 private:
  Marks& marks_;
  std::size_t index_;
};

}  // namespace

BackwardMarks::Functions BackwardMarks::functions_of(const Network::Node& node, const Tensors& slots) {
  Functions found;
  for (const auto slot : node.inputs) found.push_back(slots[slot].grad_fn().get());
  return found;
}

void BackwardMarks::watch(std::size_t index, const Functions& before, const Tensor& output) {
  if (!output.defined() || !output.grad_fn()) return;
  const auto& function = output.grad_fn();
  if (std::find(before.begin(), before.end(), function.get()) != before.end()) return;
  function->add_pre_hook(std::make_unique<Mark>(marks_, index));
}

void BackwardMarks::split(std::int64_t begin_ns, std::int64_t end_ns, std::vector<std::int64_t>& backward_ns) const {
  std::fill(backward_ns.begin(), backward_ns.end(), 0);
  const auto later = [](const auto& a, const auto& b) { return a.second > b.second; };
  if (!std::is_sorted(marks_.begin(), marks_.end(), later)) {
    throw std::runtime_error("layers cannot be separated: backward did not run in the reverse order of forward");
  }
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    const std::int64_t after_ns = i + 1 < marks_.size() ? marks_[i + 1].first : end_ns;
    backward_ns[marks_[i].second] = after_ns - marks_[i].first;
  }
  backward_ns[backward_ns.size() - 2] = (marks_.empty() ? end_ns : marks_[0].first) - begin_ns;
}

}  // namespace assay::libtorch
