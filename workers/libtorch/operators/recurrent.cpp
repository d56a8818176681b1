#include "workers/libtorch/building.hpp"

namespace assay::libtorch {
namespace {

Tensor first_state(const Tensor& x, std::int64_t features) {
  return at::zeros({1, x.size(0), features}, x.options());
}

/// One layer. libtorch wants a bias of the state too: it is zero and no parameter.
Call lstm(const GraphNode& node, Building& building) {
  const auto features = node.shape.at(1);
  const auto weight = building.parameter(node, "weight"), weight_state = building.parameter(node, "weight_state");
  const auto bias = building.parameter(node, "bias"), no_bias = building.zeros({4 * features});
  const bool trains = building.trains();
  return [=](const Tensors& in) {
    const Tensor begin = first_state(in[0], features);
    return std::get<0>(at::lstm(in[0], {begin, begin}, {weight, weight_state, bias, no_bias}, /*has_biases=*/true,
                                /*num_layers=*/1, /*dropout=*/0.0, trains, /*bidirectional=*/false,
                                /*batch_first=*/true));
  };
}

/// One layer, with a row of the bias for the input and one for the state.
Call gru(const GraphNode& node, Building& building) {
  const auto features = node.shape.at(1);
  const auto weight = building.parameter(node, "weight"), weight_state = building.parameter(node, "weight_state");
  const auto bias = building.parameter(node, "bias");
  const bool trains = building.trains();
  return [=](const Tensors& in) {
    return std::get<0>(at::gru(in[0], first_state(in[0], features), {weight, weight_state, bias[0], bias[1]},
                               /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0.0, trains,
                               /*bidirectional=*/false, /*batch_first=*/true));
  };
}

}  // namespace

Table recurrent_operators() {
  return {{"lstm", lstm}, {"gru", gru}};
}

}  // namespace assay::libtorch
