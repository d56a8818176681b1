#include "workers/libtorch/building.hpp"

namespace assay::libtorch {

Tensor Building::keep(const worker::Value& value) {
  const Tensor tensor = form_.of(tensor_of(value));
  filled_.push_back({tensor, keeps_ ? std::optional(value) : std::nullopt});
  return tensor;
}

std::optional<Tensor> Building::optional_parameter(const GraphNode& node, const std::string& name) {
  for (const auto& wanted : node.parameters) {
    if (wanted.name != name) continue;
    Tensor tensor = keep(values_.parameter(node, wanted));
    tensor.set_requires_grad(trains_);
    parameters_.emplace_back(node.name + "/" + name, tensor);
    if (name == "weight") weights_[node.name] = tensor;
    return tensor;
  }
  return {};
}

Tensor Building::parameter(const GraphNode& node, const std::string& name) {
  const auto found = optional_parameter(node, name);
  if (!found) fail(ErrorKind::bad_input, "node {} has no parameter {}", shown(node.name), shown(name));
  return *found;
}

Tensor Building::weight(const GraphNode& node) {
  const auto owner = node.attribute<std::string>("shared", "");
  if (owner.empty()) return parameter(node, "weight");
  const auto found = weights_.find(owner);
  if (found == weights_.end()) fail(ErrorKind::bad_input, "there is no weight of {} to share", shown(owner));
  return found->second;
}

Tensor Building::statistic(const GraphNode& node, const std::string& which) {
  return keep(values_.statistic(node, which));
}

Tensor Building::table(const std::vector<float>& numbers, const Sizes& shape) const {
  return at::tensor(numbers).reshape(shape).to(form_.precision);
}

const Table& operators() {
  static const Table table = [] {
    Table all;
    for (const auto part : {convolution_operators, norm_operators, activation_operators, pool_operators,
                            shape_operators, sequence_operators, recurrent_operators}) {
      all.merge(part());
    }
    return all;
  }();
  return table;
}

}  // namespace assay::libtorch
