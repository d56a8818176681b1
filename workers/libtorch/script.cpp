#include "workers/libtorch/script.hpp"

#include <torch/csrc/jit/serialization/import.h>

#include <set>

#include "workers/common/graph_values.hpp"
#include "workers/common/network_file.hpp"
#include "workers/libtorch/input_options.hpp"

namespace assay::libtorch {
namespace {

torch::jit::Module load(const worker::NetworkFile& file) {
  worker::check_unchanged(file);
  try {
    return torch::jit::load(file.path, at::kCPU);
  } catch (const c10::Error& error) {
    worker::refuse("{} cannot be read as TorchScript: {}", file.path, error.what_without_backtrace());
  }
}

/// Module::to() would turn integers into real numbers.
void take_form(const torch::jit::Module& module, const Form& form) {
  const at::NoGradGuard no_grad;
  for (const auto& tensor : module.parameters()) tensor.set_data(form.of(tensor));
  for (const auto& tensor : module.buffers()) tensor.set_data(form.of(tensor));
}

/// Real values are standard normal. What integers mean is not known: 0 and 1 are valid for most.
Tensor drawn(const InputOption& input, const worker::Prepare& prepare) {
  worker::Shape shape{prepare.workload.batch};
  shape.insert(shape.end(), input.shape.begin(), input.shape.end());
  const std::string name = "input/" + input.name;
  return tensor_of(input.integer ? worker::draw_below(prepare, name, shape, 2)
                                 : worker::draw_normal(prepare, name, shape));
}

}  // namespace

Script::Script(const worker::Prepare& prepare) {
  if (prepare.values) worker::refuse("values: they belong to a graph of Assay's, not to {}.", prepare.file->path);
  const auto described = input_options(prepare.workload);
  const Form form = form_of(prepare);
  const bool trains = prepare.workload.mode == Mode::train;
  module_ = load(*prepare.file);
  module_.train(trains);
  take_form(module_, form);
  for (const auto& parameter : module_.parameters()) parameter.set_requires_grad(trains);
  if (trains && parameters().empty()) worker::refuse("mode train: {} has no parameters.", prepare.file->path);
  for (const auto& input : described) inputs_.push_back(form.of(drawn(input, prepare)));
}

Tensor Script::forward() {
  output_ = c10::IValue();
  output_ = module_.forward({inputs_.begin(), inputs_.end()});
  return output_.isTensor() ? output_.toTensor() : Tensor();
}

Tensor Script::loss(const Tensor& output) const {
  if (!output.defined()) worker::refuse("mode train: the output is {}, not one tensor.", output_.tagKind());
  return output.square().mean();
}

Tensors Script::parameters() const {
  Tensors all;
  std::set<const void*> seen;
  for (const auto& tensor : module_.parameters()) {
    if (seen.insert(tensor.unsafeGetTensorImpl()).second) all.push_back(tensor);
  }
  return all;
}

}  // namespace assay::libtorch
