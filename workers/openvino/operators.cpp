// The operators of a graph. Tensors have the batch in front: dimension 0 of a graph's shape is dimension 1 here.

#include "workers/openvino/making.hpp"

namespace assay::openvino {
namespace {

Output constant(const worker::Value& value, const ov::Shape& shape) {
  const std::shared_ptr<void> owner = std::const_pointer_cast<void>(value.data);
  return std::make_shared<op::Constant>(type_of(value), shape, value.data.get(), owner);
}

/// Kernel, stride and padding as a node has them: height and width, of volumes also depth in front.
struct Window {
  explicit Window(const GraphNode& node) : kernel(extent(node, "kernel")), stride(extent(node, "stride")) {
    padding = extent(node, "padding");
  }

  ov::CoordinateDiff padding_difference() const { return {padding.begin(), padding.end()}; }

  static ov::Shape extent(const GraphNode& node, const char* field) {
    return shape_of(node.attribute<std::vector<std::int64_t>>(field));
  }

  ov::Shape kernel, stride, padding;
};

Output convolution(const GraphNode& node, const Inputs& in, Building& building) {
  const Window w(node);
  const auto groups = static_cast<std::size_t>(node.attribute<std::int64_t>("groups"));
  const auto pads = w.padding_difference();
  const auto apart = node.attribute("dilation", std::vector<std::int64_t>(w.kernel.size(), 1));
  const auto behind = node.attribute("padding_behind", std::vector<std::int64_t>(pads.begin(), pads.end()));
  const ov::CoordinateDiff pads_behind(behind.begin(), behind.end());
  const ov::Strides strides(w.stride), dilations(apart.begin(), apart.end());
  Output out;
  if (groups == 1) {
    out = make<op::Convolution>(in[0], building.parameter(node, "weight"), strides, pads, pads_behind, dilations);
  } else {
    const auto shape = shape_of(node.parameters.at(0).shape);
    ov::Shape grouped{groups, shape.at(0) / groups};
    grouped.insert(grouped.end(), shape.begin() + 1, shape.end());
    const auto weight = building.parameter(node, "weight", grouped);
    out = make<op::GroupConvolution>(in[0], weight, strides, pads, pads_behind, dilations);
  }
  if (!node.attribute<bool>("bias")) return out;
  ov::Shape aligned(1 + node.shape.size(), 1);
  aligned[1] = static_cast<std::size_t>(node.shape.at(0));
  return make<op::Add>(out, building.parameter(node, "bias", aligned));
}

Output transposed_convolution(const GraphNode& node, const Inputs& in, Building& building) {
  const ov::Strides strides(Window::extent(node, "stride")), dilations{1, 1};
  const ov::CoordinateDiff none{0, 0};
  const auto weight = building.parameter(node, "weight");
  const auto out = make<op::ConvolutionBackpropData>(in[0], weight, strides, none, none, dilations);
  if (!node.attribute<bool>("bias")) return out;
  const auto channels = static_cast<std::size_t>(node.shape.at(0));
  return make<op::Add>(out, building.parameter(node, "bias", {1, channels, 1, 1}));
}

Output linear(const GraphNode& node, const Inputs& in, Building& building) {
  const auto owner = node.attribute<std::string>("shared", "");
  const auto weight = owner.empty() ? building.parameter(node, "weight") : building.shared_weight(owner);
  const auto out = make<op::MatMul>(in[0], weight, false, true);
  return node.attribute<bool>("bias") ? make<op::Add>(out, building.parameter(node, "bias")) : out;
}

Output batch_norm(const GraphNode& node, const Inputs& in, Building& building) {
  const auto weight = building.parameter(node, "weight"), bias = building.parameter(node, "bias");
  return make<op::BatchNormInference>(in[0], weight, bias, building.statistic(node, "mean"),
                                      building.statistic(node, "variance"), node.attribute<double>("epsilon"));
}

Output layer_norm(const GraphNode& node, const Inputs& in, Building& building) {
  const auto epsilon = static_cast<float>(node.attribute<double>("epsilon"));
  const auto normal = make<op::MVN>(in[0], integers({-1}), true, epsilon, ov::op::MVNEpsMode::INSIDE_SQRT);
  const auto scaled = make<op::Multiply>(normal, building.parameter(node, "weight"));
  return make<op::Add>(scaled, building.parameter(node, "bias"));
}

Output local_response_norm(const GraphNode& node, const Inputs& in, Building&) {
  const auto size = node.attribute<std::int64_t>("size");
  // Measured: OpenVINO's CPU takes one channel less then, as many before as behind.
  if (size % 2 == 0) worker::refuse("node {}: OpenVINO has no local_response_norm of even size {}.", node.name, size);
  return make<op::LRN>(in[0], integers({1}), node.attribute<double>("alpha"), node.attribute<double>("beta"),
                       node.attribute<double>("k"), static_cast<std::size_t>(size));
}

Output l2_norm(const GraphNode& node, const Inputs& in, Building& building) {
  const auto channels = static_cast<std::size_t>(node.shape.at(0));
  const auto normal = make<op::NormalizeL2>(in[0], integers({1}), 1e-12F, ov::op::EpsMode::MAX);
  return make<op::Multiply>(normal, building.parameter(node, "weight", {1, channels, 1, 1}));
}

/// A last window that is not full counts, unless it begins in the padding behind the input: as PyTorch has it.
ov::op::RoundingType rounding(const GraphNode& node) {
  return node.attribute<bool>("ceil", false) ? ov::op::RoundingType::CEIL_TORCH : ov::op::RoundingType::FLOOR;
}

Output max_pool(const GraphNode& node, const Inputs& in, Building&) {
  const Window w(node);
  const ov::Strides alone(w.kernel.size(), 1);
  return make<op::MaxPool>(in[0], ov::Strides(w.stride), alone, w.padding, w.padding, w.kernel, rounding(node));
}

/// Where padding counts and a last window goes beyond it, OpenVINO would divide by the whole window. So the image is
/// padded first, and what lies beyond is padding that does not count.
Output average_pool_beyond_padding(const GraphNode& node, const Output& x, const Window& w) {
  const auto around =
      integers({0, 0, static_cast<std::int64_t>(w.padding[0]), static_cast<std::int64_t>(w.padding[1])});
  const auto zero = op::Constant::create(ov::element::f32, {}, {0.0F});
  const auto padded = make<op::Pad>(x, around, around, zero, ov::op::PadMode::CONSTANT);
  ov::Shape behind(2, 0);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t reach = (static_cast<std::size_t>(node.shape.at(1 + i)) - 1) * w.stride[i] + w.kernel[i];
    const std::size_t size = padded.get_shape()[2 + i];
    behind[i] = reach > size ? reach - size : 0;
  }
  return make<op::AvgPool>(padded, ov::Strides(w.stride), ov::Shape{0, 0}, behind, w.kernel, true,
                           ov::op::RoundingType::FLOOR);
}

Output average_pool(const GraphNode& node, const Inputs& in, Building&) {
  const Window w(node);
  const bool counts_padding = node.attribute<bool>("count_padding", false);
  if (counts_padding && node.attribute<bool>("ceil", false)) return average_pool_beyond_padding(node, in[0], w);
  return make<op::AvgPool>(in[0], ov::Strides(w.stride), w.padding, w.padding, w.kernel, !counts_padding,
                           rounding(node));
}

Output global_average_pool(const GraphNode&, const Inputs& in, Building&) {
  return make<op::ReduceMean>(in[0], integers({2, 3}), false);
}

Output resize(const GraphNode& node, const Inputs& in, Building&) {
  op::Interpolate::InterpolateAttrs how;
  how.mode = op::Interpolate::InterpolateMode::LINEAR_ONNX;
  how.shape_calculation_mode = op::Interpolate::ShapeCalcMode::SIZES;
  how.coordinate_transformation_mode = op::Interpolate::CoordinateTransformMode::HALF_PIXEL;
  how.pads_begin = how.pads_end = {0, 0, 0, 0};
  const auto sizes = node.attribute<std::vector<std::int64_t>>("sizes");
  return make<op::Interpolate>(in[0], integers(sizes), integers({2, 3}), how);
}

Output flatten(const GraphNode& node, const Inputs& in, Building& building) {
  return reshaped(in[0], {building.batch(), node.shape.at(0)});
}

Output dropout(const GraphNode&, const Inputs& in, Building&) {
  return in[0];  // it acts only when training
}

Output concat(const GraphNode&, const Inputs& in, Building&) {
  return make<op::Concat>(in, 1);
}

/// A second input with fewer dimensions lines up with the last ones; the batch stays in front.
template <typename Op>
Output pairwise(const GraphNode&, const Inputs& in, Building&) {
  const auto first = in[0].get_shape(), second = in[1].get_shape();
  if (first.size() == second.size()) return make<Op>(in[0], in[1]);
  std::vector<std::int64_t> aligned(first.size(), 1);
  aligned[0] = static_cast<std::int64_t>(second[0]);
  std::copy(second.begin() + 1, second.end(), aligned.end() - static_cast<std::ptrdiff_t>(second.size() - 1));
  return make<Op>(in[0], reshaped(in[1], aligned));
}

Output embedding(const GraphNode& node, const Inputs& in, Building& building) {
  const auto owner = node.attribute<std::string>("shared", "");
  const auto table = owner.empty() ? building.parameter(node, "weight") : building.shared_weight(owner);
  return make<op::Gather>(table, in[0], integer(0));
}

/// The first rows of a table, the same for each sample, whatever the input holds: a batch of one.
Output position_embedding(const GraphNode& node, const Inputs&, Building& building) {
  const auto length = node.shape.at(0);
  const auto rows = make<op::Slice>(building.parameter(node, "weight"), integers({0}), integers({length}),
                                    integers({1}), integers({0}));
  return make<op::Unsqueeze>(rows, integer(0));
}

Output attention(const GraphNode& node, const Inputs& in, Building& building) {
  const auto heads = node.attribute<std::int64_t>("heads");
  const auto positions = node.shape.at(0), features = node.shape.at(1);
  const auto key_heads = node.attribute<std::int64_t>("key_heads", heads);
  const auto swap = integers({0, 2, 1, 3});
  const auto split = [&](const Output& x, std::int64_t of) {
    const auto length = static_cast<std::int64_t>(x.get_shape().at(1)), size = features / heads;
    if (of == heads) return make<op::Transpose>(reshaped(x, {building.batch(), length, heads, size}), swap);
    // A head of the keys serves some of the queries that follow each other.
    const auto alone = reshaped(x, {building.batch(), length, of, 1, size});
    const auto repeated = make<op::Tile>(alone, integers({1, 1, 1, heads / of, 1}));
    return make<op::Transpose>(reshaped(repeated, {building.batch(), length, heads, size}), swap);
  };
  const auto mixed = make<op::ScaledDotProductAttention>(
      split(in[0], heads), split(in[1], key_heads), split(in[2], key_heads), node.attribute<bool>("causal", false));
  return reshaped(make<op::Transpose>(mixed, swap), {building.batch(), positions, features});
}

Output select(const GraphNode& node, const Inputs& in, Building&) {
  return make<op::Gather>(in[0], integer(node.attribute<std::int64_t>("index")), integer(1));
}

Output slice(const GraphNode& node, const Inputs& in, Building&) {
  const auto begin = node.attribute<std::int64_t>("begin");
  const auto end = begin + node.attribute<std::int64_t>("length");
  return make<op::Slice>(in[0], integers({begin}), integers({end}), integers({1}), integers({-1}));
}

template <typename Op>
Output plain(const GraphNode&, const Inputs& in, Building&) {
  return make<Op>(in[0]);
}

Output relu6(const GraphNode&, const Inputs& in, Building&) {
  return make<op::Clamp>(in[0], 0, 6);
}

Output leaky_relu(const GraphNode& node, const Inputs& in, Building&) {
  const auto slope = static_cast<float>(node.attribute<double>("alpha"));
  return make<op::PRelu>(in[0], op::Constant::create(ov::element::f32, {1}, {slope}));
}

template <ov::op::GeluApproximationMode mode>
Output gelu(const GraphNode&, const Inputs& in, Building&) {
  return make<op::Gelu>(in[0], mode);
}

Output softmax(const GraphNode&, const Inputs& in, Building&) {
  return make<op::Softmax>(in[0], -1);
}

}  // namespace

Output Building::parameter(const GraphNode& node, const std::string& name, const ov::Shape& shape) {
  for (const auto& parameter : node.parameters) {
    if (parameter.name != name) continue;
    const worker::Value value = values_.parameter(node, parameter);
    parameters_ += static_cast<std::int64_t>(value.elements());
    const Output out = constant(value, shape.empty() ? shape_of(value.shape) : shape);
    if (name == "weight") weights_[node.name] = out;
    return out;
  }
  fail(ErrorKind::bad_input, "node {} has no parameter {}", shown(node.name), shown(name));
}

Output Building::shared_weight(const std::string& owner) const {
  const auto found = weights_.find(owner);
  if (found == weights_.end()) fail(ErrorKind::bad_input, "there is no weight of {} to share", shown(owner));
  return found->second;
}

Output Building::statistic(const GraphNode& node, const std::string& which) const {
  const worker::Value value = values_.statistic(node, which);
  return constant(value, shape_of(value.shape));
}

ov::element::Type type_of(const worker::Value& value) {
  return value.type == worker::ValueType::real ? ov::element::f32 : ov::element::i64;
}

ov::Shape shape_of(const worker::Shape& shape) {
  return {shape.begin(), shape.end()};
}

namespace {

std::map<std::string, Operator> own_operators() {
  return {
      {"convolution", convolution},
      {"dilated_convolution", convolution},
      {"convolution3d", convolution},
      {"transposed_convolution", transposed_convolution},
      {"linear", linear},
      {"batch_norm", batch_norm},
      {"layer_norm", layer_norm},
      {"local_response_norm", local_response_norm},
      {"l2_norm", l2_norm},
      {"relu", plain<op::Relu>},
      {"leaky_relu", leaky_relu},
      {"relu6", relu6},
      {"gelu", gelu<ov::op::GeluApproximationMode::ERF>},
      {"gelu_tanh", gelu<ov::op::GeluApproximationMode::TANH>},
      {"tanh", plain<op::Tanh>},
      {"sigmoid", plain<op::Sigmoid>},
      {"silu", plain<op::Swish>},
      {"hard_swish", plain<op::HSwish>},
      {"hard_sigmoid", plain<op::HSigmoid>},
      {"softmax", softmax},
      {"max_pool", max_pool},
      {"max_pool3d", max_pool},
      {"average_pool", average_pool},
      {"global_average_pool", global_average_pool},
      {"resize", resize},
      {"flatten", flatten},
      {"dropout", dropout},
      {"concat", concat},
      {"add", pairwise<op::Add>},
      {"multiply", pairwise<op::Multiply>},
      {"embedding", embedding},
      {"position_embedding", position_embedding},
      {"attention", attention},
      {"cross_attention", attention},
      {"select", select},
      {"slice", slice},
  };
}

}  // namespace

const std::map<std::string, Operator>& operators() {
  static const std::map<std::string, Operator> table = [] {
    auto all = own_operators();
    all.insert(sequence_operators().begin(), sequence_operators().end());
    return all;
  }();
  return table;
}

}  // namespace assay::openvino
