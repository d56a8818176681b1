// Convolutions and products with weights. Tensors have the batch in front: dimension 0 of a graph's shape is dimension
// 1 here.

#include "workers/libtorch/building.hpp"

namespace assay::libtorch {
namespace {

/// What convolutions have: height and width, of volumes also depth in front.
struct Moves {
  explicit Moves(const GraphNode& node)
      : stride(node.attribute<Sizes>("stride")),
        padding(node.attribute<Sizes>("padding")),
        dilation(node.attribute("dilation", Sizes(stride.size(), 1))),
        groups(node.attribute<std::int64_t>("groups")) {}

  Sizes stride, padding, dilation;
  std::int64_t groups;
};

Call convolution(const GraphNode& node, Building& building) {
  const Moves moves(node);
  const auto weight = building.parameter(node, "weight");
  const auto bias = building.optional_parameter(node, "bias");
  return [=](const Tensors& in) {
    return at::conv2d(in[0], weight, bias, moves.stride, moves.padding, moves.dilation, moves.groups);
  };
}

Call plain_convolution3d(const Moves& moves, const Tensor& weight, const std::optional<Tensor>& bias) {
  return [=](const Tensors& in) {
    return at::conv3d(in[0], weight, bias, moves.stride, moves.padding, moves.dilation, moves.groups);
  };
}

Call convolution3d(const GraphNode& node, Building& building) {
  Moves moves(node);
  const auto weight = building.parameter(node, "weight");
  const auto bias = building.optional_parameter(node, "bias");
  const auto behind = node.attribute("padding_behind", Sizes());
  if (behind.empty()) return plain_convolution3d(moves, weight, bias);
  Sizes sides;  // libtorch begins with the last dimension
  for (std::size_t i = behind.size(); i-- > 0;) sides.insert(sides.end(), {moves.padding.at(i), behind[i]});
  moves.padding.assign(behind.size(), 0);
  const Call padded = plain_convolution3d(moves, weight, bias);
  return [=](const Tensors& in) { return padded({at::constant_pad_nd(in[0], sides)}); };
}

Call transposed_convolution(const GraphNode& node, Building& building) {
  const auto stride = node.attribute<Sizes>("stride");
  const auto weight = building.parameter(node, "weight");
  const auto bias = building.optional_parameter(node, "bias");
  return [=](const Tensors& in) { return at::conv_transpose2d(in[0], weight, bias, stride); };
}

Call linear(const GraphNode& node, Building& building) {
  const auto weight = building.weight(node);
  const auto bias = building.optional_parameter(node, "bias");
  return [=](const Tensors& in) { return at::linear(in[0], weight, bias); };
}

}  // namespace

Table convolution_operators() {
  return {
      {"convolution", convolution},
      {"dilated_convolution", convolution},
      {"convolution3d", convolution3d},
      {"transposed_convolution", transposed_convolution},
      {"linear", linear},
  };
}

}  // namespace assay::libtorch
