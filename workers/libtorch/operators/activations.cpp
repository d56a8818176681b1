#include <set>

#include "workers/libtorch/building.hpp"

namespace assay::libtorch {
namespace {

template <Tensor (*function)(const Tensor&)>
Call plain(const GraphNode&, Building&) {
  return [](const Tensors& in) { return function(in[0]); };
}

/// An activation in its form that returns its input, written over.
template <Tensor& (*function)(Tensor&)>
Call in_place(const GraphNode&, Building&) {
  return [](const Tensors& in) {
    Tensor x = in[0];
    return function(x);
  };
}

Call leaky_relu(const GraphNode& node, Building&) {
  const auto slope = node.attribute<double>("alpha");
  return [=](const Tensors& in) { return at::leaky_relu(in[0], slope); };
}

Call gelu(const GraphNode&, Building&) {
  return [](const Tensors& in) { return at::gelu(in[0]); };
}

Call gelu_tanh(const GraphNode&, Building&) {
  return [](const Tensors& in) { return at::gelu(in[0], "tanh"); };
}

Call softmax(const GraphNode&, Building&) {
  return [](const Tensors& in) { return at::softmax(in[0], -1); };
}

Call dropout(const GraphNode& node, Building& building) {
  const auto probability = node.attribute<double>("probability");
  const bool trains = building.trains();
  return [=](const Tensors& in) { return at::dropout(in[0], probability, trains); };
}

}  // namespace

Operator overwriting(const std::string& op) {
  if (op == "relu") return in_place<at::relu_>;
  if (op == "relu6") return in_place<at::relu6_>;
  return nullptr;
}

bool keeps_no_output(const std::string& op) {
  static const std::set<std::string> names{"convolution", "linear", "batch_norm", "add"};
  return names.count(op) > 0;
}

Table activation_operators() {
  return {
      {"relu", plain<at::relu>},
      {"leaky_relu", leaky_relu},
      {"relu6", plain<at::relu6>},
      {"gelu", gelu},
      {"gelu_tanh", gelu_tanh},
      {"tanh", plain<at::tanh>},
      {"sigmoid", plain<at::sigmoid>},
      {"silu", plain<at::silu>},
      {"hard_swish", plain<at::hardswish>},
      {"hard_sigmoid", plain<at::hardsigmoid>},
      {"softmax", softmax},
      {"dropout", dropout},
  };
}

}  // namespace assay::libtorch
