#include "assay/network/onnx/shapes.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace assay::network::onnx {
namespace {

using Inputs = std::vector<const Value*>;
using Shapes = std::optional<std::vector<Shape>>;
using Integers = std::optional<std::vector<std::int64_t>>;
using Rule = std::function<Shapes(const Node&, const Inputs&)>;

constexpr std::int64_t kMostOfOne = std::int64_t{1} << 31;  // of an attribute of a window

[[noreturn]] void wrong(const Node& node, const char* what) {
  fail(ErrorKind::bad_input, "{}: {}", title_of(node), what);
}

const Shape& shape_of(const Node& node, const Inputs& in, std::size_t index) {
  if (index >= in.size() || in[index] == nullptr) wrong(node, "an input is missing");
  return *in[index]->shape;
}

Integers integers_of(const Inputs& in, std::size_t index) {
  return index < in.size() && in[index] != nullptr ? in[index]->integers : Integers{};
}

std::size_t axis_of(const Node& node, std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) wrong(node, "an axis is out of range");
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

/// Axes that stand in an attribute in old opsets and in an input in new ones. Nothing where they are computed.
Integers axes_of(const Node& node, const Inputs& in, std::size_t index) {
  if (in.size() > index && in[index] != nullptr) return in[index]->integers;
  return node.integers("axes");
}

std::vector<std::int64_t> window_values(const Node& node, const char* name, std::size_t count, std::int64_t otherwise,
                                        std::int64_t least) {
  auto values = node.integers(name);
  if (values.empty()) values.assign(count, otherwise);
  if (values.size() != count) wrong(node, "a window has another number of dimensions than its input");
  for (const auto value : values) {
    if (value < least || value >= kMostOfOne) wrong(node, "a window has a size that is out of range");
  }
  return values;
}

Shapes slid(const Node& node, const Shape& input, std::int64_t channels, const std::vector<std::int64_t>& kernel) {
  const std::size_t rank = kernel.size();
  if (input.size() != rank + 2) wrong(node, "a window has another number of dimensions than its input");
  const auto strides = window_values(node, "strides", rank, 1, 1);
  const auto dilations = window_values(node, "dilations", rank, 1, 1);
  const auto pads = window_values(node, "pads", 2 * rank, 0, 0);
  const auto pad_mode = node.text("auto_pad", "NOTSET");
  const bool ceil = node.integer("ceil_mode", 0) != 0;
  Shape out{input[0], channels};
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t size = input[i + 2];
    const std::int64_t stride = strides[i];
    if (pad_mode == "SAME_UPPER" || pad_mode == "SAME_LOWER") {
      out.push_back((size + stride - 1) / stride);
      continue;
    }
    const std::int64_t before = pad_mode == "VALID" ? 0 : pads[i];
    const std::int64_t after = pad_mode == "VALID" ? 0 : pads[i + rank];
    if (kernel[i] < 1 || kernel[i] >= kMostOfOne) wrong(node, "a window has a size that is out of range");
    const std::int64_t reach = dilations[i] * (kernel[i] - 1) + 1;
    const std::int64_t room = size + before + after - reach;
    if (room < 0) wrong(node, "a window does not fit its input");
    std::int64_t count = (room + (ceil ? stride - 1 : 0)) / stride + 1;
    if (ceil && (count - 1) * stride >= size + before) --count;
    out.push_back(count);
  }
  return {{out}};
}

Shapes convolution(const Node& node, const Inputs& in) {
  const auto& weight = shape_of(node, in, 1);
  if (weight.size() < 3) wrong(node, "its weight has too few dimensions");
  return slid(node, shape_of(node, in, 0), weight[0], {weight.begin() + 2, weight.end()});
}

Shapes pool(const Node& node, const Inputs& in) {
  const auto& input = shape_of(node, in, 0);
  if (input.size() < 3) wrong(node, "its input has too few dimensions");
  return slid(node, input, input[1], node.integers("kernel_shape"));
}

Shapes global_pool(const Node& node, const Inputs& in) {
  Shape out = shape_of(node, in, 0);
  for (std::size_t i = 2; i < out.size(); ++i) out[i] = 1;
  return {{out}};
}

Shape broadcast(const Node& node, const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t one = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t other = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (one != other && one != 1 && other != 1) wrong(node, "its inputs do not fit each other");
    out[out.size() - 1 - i] = one == 1 ? other : one;
  }
  return out;
}

Shapes all_broadcast(const Node& node, const Inputs& in) {
  Shape out;
  for (std::size_t i = 0; i < in.size(); ++i) out = broadcast(node, out, shape_of(node, in, i));
  return {{out}};
}

Shapes gemm(const Node& node, const Inputs& in) {
  const auto& a = shape_of(node, in, 0);
  const auto& b = shape_of(node, in, 1);
  if (a.size() != 2 || b.size() != 2) wrong(node, "its inputs are not matrices");
  const bool turned_a = node.integer("transA", 0) != 0;
  const bool turned_b = node.integer("transB", 0) != 0;
  if (a[turned_a ? 0 : 1] != b[turned_b ? 1 : 0]) wrong(node, "its inputs do not fit each other");
  return {{{a[turned_a ? 1 : 0], b[turned_b ? 0 : 1]}}};
}

Shapes matrix_product(const Node& node, const Inputs& in) {
  Shape a = shape_of(node, in, 0);
  Shape b = shape_of(node, in, 1);
  if (a.empty() || b.empty()) wrong(node, "its inputs are not matrices");
  const bool row = a.size() == 1;
  const bool column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (a.back() != b[b.size() - 2]) wrong(node, "its inputs do not fit each other");
  Shape out = broadcast(node, {a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!row) out.push_back(a[a.size() - 2]);
  if (!column) out.push_back(b.back());
  return {{out}};
}

Shapes flatten(const Node& node, const Inputs& in) {
  const auto& input = shape_of(node, in, 0);
  const auto rank = static_cast<std::int64_t>(input.size());
  auto axis = node.integer("axis", 1);
  if (axis < -rank || axis > rank) wrong(node, "an axis is out of range");
  if (axis < 0) axis += rank;
  return {{{count_of({input.begin(), input.begin() + axis}), count_of({input.begin() + axis, input.end()})}}};
}

Shapes reshape(const Node& node, const Inputs& in) {
  const auto& input = shape_of(node, in, 0);
  const auto wanted = in.size() > 1 ? integers_of(in, 1) : Integers(node.integers("shape"));
  if (!wanted) return {};
  Shape out = *wanted;
  const bool keeps = node.integer("allowzero", 0) == 0;
  std::optional<std::size_t> open;
  Shape known;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == 0 && keeps) {
      if (i >= input.size()) wrong(node, "it keeps a dimension that is not there");
      out[i] = input[i];
    }
    if (out[i] < -1 || (out[i] == -1 && open)) wrong(node, "it cannot have this shape");
    if (out[i] == -1) {
      open = i;
    } else {
      known.push_back(out[i]);
    }
  }
  const std::int64_t count = count_of(input);
  const std::int64_t rest = count_of(known);
  if (open) {
    if (rest == 0 || count % rest != 0) wrong(node, "its input does not fit the new shape");
    out[*open] = count / rest;
  } else if (rest != count) {
    wrong(node, "its input does not fit the new shape");
  }
  return {{out}};
}

Shapes transpose(const Node& node, const Inputs& in) {
  const auto& input = shape_of(node, in, 0);
  const auto order = node.integers("perm");
  if (order.empty()) return {{Shape(input.rbegin(), input.rend())}};
  if (order.size() != input.size()) wrong(node, "it reorders another number of dimensions than there are");
  Shape out;
  for (const auto axis : order) out.push_back(input[axis_of(node, axis, input.size())]);
  return {{out}};
}

Shapes concat(const Node& node, const Inputs& in) {
  Shape out = shape_of(node, in, 0);
  const auto axis = axis_of(node, node.integer("axis", 1), out.size());
  for (std::size_t i = 1; i < in.size(); ++i) {
    const auto& more = shape_of(node, in, i);
    if (more.size() != out.size()) wrong(node, "its inputs do not fit each other");
    for (std::size_t k = 0; k < out.size(); ++k) {
      if (k != axis && more[k] != out[k]) wrong(node, "its inputs do not fit each other");
    }
    out[axis] += more[axis];
    count_of(out);
  }
  return {{out}};
}

Shapes gather(const Node& node, const Inputs& in) {
  const auto& data = shape_of(node, in, 0);
  const auto& indices = shape_of(node, in, 1);
  const auto axis = axis_of(node, node.integer("axis", 0), data.size());
  Shape out(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), data.begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.end());
  return {{out}};
}

Shapes slice(const Node& node, const Inputs& in) {
  Shape out = shape_of(node, in, 0);
  const bool old = in.size() == 1;
  const auto starts = old ? Integers(node.integers("starts")) : integers_of(in, 1);
  const auto ends = old ? Integers(node.integers("ends")) : integers_of(in, 2);
  if (!starts || !ends || starts->size() != ends->size()) return {};
  auto axes = axes_of(node, in, 3);
  const auto steps = in.size() > 4 && in[4] != nullptr ? integers_of(in, 4) : Integers(Shape(starts->size(), 1));
  if (!axes || !steps || steps->size() != starts->size()) return {};
  if (axes->empty()) {
    for (std::size_t i = 0; i < starts->size(); ++i) axes->push_back(static_cast<std::int64_t>(i));
  }
  if (axes->size() != starts->size()) wrong(node, "it has another number of axes than of ranges");
  for (std::size_t i = 0; i < axes->size(); ++i) {
    auto& size = out[axis_of(node, (*axes)[i], out.size())];
    const std::int64_t step = (*steps)[i];
    if (step == 0 || step <= -kMostOfOne || step >= kMostOfOne) wrong(node, "a step is out of range");
    const auto bound = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + size : at, step < 0 ? -1 : 0, step < 0 ? size - 1 : size);
    };
    const std::int64_t begin = bound((*starts)[i]);
    const std::int64_t end = bound((*ends)[i]);
    const std::int64_t span = step > 0 ? end - begin : begin - end;
    const std::int64_t stride = step > 0 ? step : -step;
    size = span <= 0 ? 0 : (span + stride - 1) / stride;
  }
  return {{out}};
}

Shapes unsqueeze(const Node& node, const Inputs& in) {
  const auto axes = axes_of(node, in, 1);
  if (!axes) return {};
  const auto& input = shape_of(node, in, 0);
  const std::size_t rank = input.size() + axes->size();
  std::vector<bool> added(rank);
  for (const auto axis : *axes) added[axis_of(node, axis, rank)] = true;
  if (std::count(added.begin(), added.end(), false) != static_cast<std::ptrdiff_t>(input.size())) {
    wrong(node, "it adds an axis twice");
  }
  Shape out;
  for (std::size_t i = 0, from = 0; i < rank; ++i) out.push_back(added[i] ? 1 : input[from++]);
  return {{out}};
}

Shapes squeeze(const Node& node, const Inputs& in) {
  const auto axes = axes_of(node, in, 1);
  if (!axes) return {};
  const auto& input = shape_of(node, in, 0);
  std::vector<bool> removed(input.size());
  for (const auto axis : *axes) removed[axis_of(node, axis, input.size())] = true;
  Shape out;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const bool goes = axes->empty() ? input[i] == 1 : removed[i];
    if (!goes) out.push_back(input[i]);
  }
  return {{out}};
}

Shapes reduce(const Node& node, const Inputs& in) {
  const auto axes = axes_of(node, in, 1);
  if (!axes) return {};
  const auto& input = shape_of(node, in, 0);
  if (axes->empty() && node.integer("noop_with_empty_axes", 0) != 0) return {{input}};
  std::vector<bool> reduced(input.size(), axes->empty());
  for (const auto axis : *axes) reduced[axis_of(node, axis, input.size())] = true;
  Shape out;
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (!reduced[i]) out.push_back(input[i]);
    if (reduced[i] && node.integer("keepdims", 1) != 0) out.push_back(1);
  }
  return {{out}};
}

Shapes expand(const Node& node, const Inputs& in) {
  const auto wanted = integers_of(in, 1);
  if (!wanted) return {};
  count_of(*wanted);
  return {{broadcast(node, shape_of(node, in, 0), *wanted)}};
}

Shapes split(const Node& node, const Inputs& in) {
  const auto& input = shape_of(node, in, 0);
  const auto axis = axis_of(node, node.integer("axis", 0), input.size());
  auto sizes = in.size() > 1 && in[1] != nullptr ? integers_of(in, 1) : Integers(node.integers("split"));
  if (!sizes) return {};
  const auto parts = static_cast<std::int64_t>(node.outputs.size());
  if (sizes->empty() && parts > 0) {
    const std::int64_t size = (input[axis] + parts - 1) / parts;
    for (std::int64_t i = 0; i < parts; ++i)
      sizes->push_back(std::clamp<std::int64_t>(input[axis] - i * size, 0, size));
  }
  if (sizes->size() != node.outputs.size()) wrong(node, "it has another number of parts than of outputs");
  std::vector<Shape> out;
  for (const auto size : *sizes) {
    out.push_back(input);
    out.back()[axis] = size;
  }
  return out;
}

Shapes constant(const Node& node, const Inputs&) {
  if (const auto* value = node.find("value"); value != nullptr && value->tensor) return {{value->tensor->dims}};
  if (const auto* list = node.find("value_ints")) return {{{static_cast<std::int64_t>(list->integers.size())}}};
  if (node.find("value_int") != nullptr || node.find("value_float") != nullptr) return {{Shape{}}};
  return {};
}

Shapes constant_of_shape(const Node&, const Inputs& in) {
  const auto wanted = integers_of(in, 0);
  return wanted ? Shapes{{*wanted}} : Shapes{};
}

Shapes shape(const Node& node, const Inputs& in) {
  const auto rank = static_cast<std::int64_t>(shape_of(node, in, 0).size());
  const auto bound = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const auto begin = bound(std::max(node.integer("start", 0), -kMostOfOne));
  return {{{std::max<std::int64_t>(0, bound(std::max(node.integer("end", rank), -kMostOfOne)) - begin)}}};
}

Shapes same(const Node& node, const Inputs& in) {
  return {{shape_of(node, in, 0)}};
}

const std::map<std::string, Rule, std::less<>>& rules() {
  static const auto table = [] {
    std::map<std::string, Rule, std::less<>> made{{"Conv", convolution},
                                                  {"Gemm", gemm},
                                                  {"MatMul", matrix_product},
                                                  {"MaxPool", pool},
                                                  {"AveragePool", pool},
                                                  {"LpPool", pool},
                                                  {"GlobalAveragePool", global_pool},
                                                  {"GlobalMaxPool", global_pool},
                                                  {"Flatten", flatten},
                                                  {"Reshape", reshape},
                                                  {"Transpose", transpose},
                                                  {"Concat", concat},
                                                  {"Gather", gather},
                                                  {"Slice", slice},
                                                  {"Unsqueeze", unsqueeze},
                                                  {"Squeeze", squeeze},
                                                  {"Expand", expand},
                                                  {"Split", split},
                                                  {"Constant", constant},
                                                  {"ConstantOfShape", constant_of_shape},
                                                  {"Shape", shape}};
    for (const auto* op : {"Relu",
                           "LeakyRelu",
                           "PRelu",
                           "Elu",
                           "Selu",
                           "Celu",
                           "ThresholdedRelu",
                           "Gelu",
                           "Mish",
                           "Swish",
                           "Tanh",
                           "Sigmoid",
                           "HardSwish",
                           "HardSigmoid",
                           "Softplus",
                           "Softsign",
                           "Softmax",
                           "LogSoftmax",
                           "Erf",
                           "Exp",
                           "Log",
                           "Sqrt",
                           "Sin",
                           "Cos",
                           "Neg",
                           "Abs",
                           "Sign",
                           "Reciprocal",
                           "Floor",
                           "Ceil",
                           "Round",
                           "Not",
                           "IsNaN",
                           "IsInf",
                           "Clip",
                           "Cast",
                           "Identity",
                           "Dropout",
                           "Trilu",
                           "CumSum",
                           "BatchNormalization",
                           "LayerNormalization",
                           "RMSNormalization",
                           "InstanceNormalization",
                           "GroupNormalization",
                           "LpNormalization",
                           "LRN"}) {
      made[op] = same;
    }
    for (const auto* op : {"Add", "Sub", "Mul", "Div", "Pow", "Mod", "Min", "Max", "Sum", "Mean", "And", "Or", "Xor",
                           "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Where"}) {
      made[op] = all_broadcast;
    }
    for (const auto* op : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                           "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
      made[op] = reduce;
    }
    return made;
  }();
  return table;
}

}  // namespace

Shapes output_shapes(const Node& node, const Inputs& inputs) {
  const auto rule = rules().find(node.op);
  return rule == rules().end() ? Shapes{} : rule->second(node, inputs);
}

}  // namespace assay::network::onnx
