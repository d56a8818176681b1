#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "assay/network/onnx/graph_maker.hpp"

namespace assay::network::onnx {
namespace {

using Pair = std::vector<std::int64_t>;
using Rule = std::function<void(GraphMaker&, const Node&)>;

void need(const Node& node, bool fine, const char* what) {
  if (!fine) no_counterpart(node, fmt::format("{} has no counterpart", what));
}

Attributes window(const Node& node, Pair kernel) {
  need(node, kernel.size() == 2, "a window that has not two dimensions");
  need(node, node.integers("dilations").empty() || node.integers("dilations") == Pair{1, 1}, "dilation");
  const auto mode = node.text("auto_pad", "NOTSET");
  need(node, mode == "NOTSET" || mode == "VALID", "automatic padding");
  auto pads = node.integers("pads");
  if (pads.empty() || mode == "VALID") pads = {0, 0, 0, 0};
  need(node, pads.size() == 4 && pads[0] == pads[2] && pads[1] == pads[3], "padding that differs between sides");
  Attributes a;
  a.kernel = std::move(kernel);
  a.stride = node.integers("strides").empty() ? Pair{1, 1} : node.integers("strides");
  a.padding = Pair{pads[0], pads[1]};
  return a;
}

void convolution(GraphMaker& maker, const Node& node) {
  const auto* weight = maker.parameter(node, 1, 4);
  need(node, weight != nullptr, "a convolution without a stored weight of four dimensions");
  need(node, !maker.owner(weight->name), "a weight that is shared");
  auto a = window(node, {weight->dims[2], weight->dims[3]});
  a.channels = weight->dims[0];
  a.groups = node.integer("group", 1);
  a.bias = node.has_input(2);
  need(node, !*a.bias || maker.parameter(node, 2, 1) != nullptr, "a bias that is not stored");
  maker.add(Op::convolution, node, {node.inputs[0]}, std::move(a));
  maker.own(weight->name);
}

/// `transposed`: the weight lies as [in, out]. `last`: the node that adds the bias, where that is another one.
void linear(GraphMaker& maker, const Node& node, bool transposed, const Tensor* bias, const Node* last) {
  const auto* weight = maker.parameter(node, 1, 2);
  if (const auto* made = maker.maker(node.inputs[1]); made != nullptr && made->op == "Transpose") {
    weight = made->integers("perm") == Pair{1, 0} ? maker.parameter(*made, 0, 2) : nullptr;
    transposed = !transposed;
  }
  need(node, weight != nullptr, "a product with something other than a stored matrix");
  Attributes a;
  a.features = weight->dims[transposed ? 1 : 0];
  a.bias = bias != nullptr;
  need(node, bias == nullptr || bias->dims[0] == *a.features, "a bias of another size than the output");
  const auto owner = maker.owner(weight->name);
  need(node, !owner || owner->transposed == transposed, "a weight that is shared the other way round");
  if (owner) a.shared = owner->node;
  maker.add(Op::linear, node, {node.inputs[0]}, std::move(a), last);
  if (!owner) maker.own(weight->name, transposed);
}

void gemm(GraphMaker& maker, const Node& node) {
  need(node, node.integer("transA", 0) == 0 && node.real("alpha", 1) == 1 && node.real("beta", 1) == 1, "scaling");
  const auto* bias = maker.parameter(node, 2, 1);
  need(node, !node.has_input(2) || bias != nullptr, "a bias that is not stored");
  linear(maker, node, node.integer("transB", 0) == 0, bias, nullptr);
}

void matrix_product(GraphMaker& maker, const Node& node) {
  const auto* next = maker.only_user(node.outputs[0]);
  const Tensor* bias = nullptr;
  if (next != nullptr && next->op == "Add" && next->inputs.size() == 2) {
    bias = maker.parameter(*next, next->inputs[0] == node.outputs[0] ? 1 : 0, 1);
  }
  linear(maker, node, true, bias, bias != nullptr ? next : nullptr);
}

void norm(GraphMaker& maker, const Node& node) {
  const bool batch = node.op == "BatchNormalization";
  for (std::size_t i = 1; i < (batch ? 5u : 3u); ++i) {
    need(node, maker.parameter(node, i, 1) != nullptr, "a norm without a stored scale and bias");
  }
  const auto rank = static_cast<std::int64_t>(maker.shape(node.inputs[0]).size());
  const auto axis = node.integer("axis", -1);
  need(node, batch || axis == -1 || axis == rank - 1, "a norm over several axes");
  Attributes a;
  a.epsilon = node.real("epsilon", 1e-5);
  maker.add(batch ? Op::batch_norm : Op::layer_norm, node, {node.inputs[0]}, std::move(a));
}

void local_response_norm(GraphMaker& maker, const Node& node) {
  Attributes a;
  a.size = node.integer("size", 0);
  a.alpha = node.real("alpha", 1e-4);
  a.beta = node.real("beta", 0.75);
  a.k = node.real("bias", 1);
  maker.add(Op::local_response_norm, node, {node.inputs[0]}, std::move(a));
}

/// Limits stand in attributes up to opset 10.
void clip(GraphMaker& maker, const Node& node) {
  const bool old = node.inputs.size() == 1;
  const auto least = old ? std::optional(node.real("min", -1)) : maker.real(node, 1);
  auto most = old ? std::optional(node.real("max", std::numeric_limits<double>::infinity())) : maker.real(node, 2);
  if (!old && !node.has_input(2)) most = std::numeric_limits<double>::infinity();
  need(node, least == 0.0 && most && (*most == 6 || std::isinf(*most)), "a clip that is not 0 to 6");
  maker.add(*most == 6 ? Op::relu6 : Op::relu, node, {node.inputs[0]});
}

void pool(GraphMaker& maker, const Node& node) {
  auto a = window(node, node.integers("kernel_shape"));
  a.ceil = node.integer("ceil_mode", 0) != 0;
  if (node.op == "AveragePool") a.count_padding = node.integer("count_include_pad", 0) != 0;
  maker.add(node.op == "MaxPool" ? Op::max_pool : Op::average_pool, node, {node.inputs[0]}, std::move(a));
}

/// A mean over height and width; [channels] where the two are dropped, here or by the node behind.
void global_average(GraphMaker& maker, const Node& node, bool drops) {
  const auto& input = maker.shape(node.inputs[0]);
  need(node, input.size() == 4, "a mean of something other than an image");
  const auto* next = drops ? nullptr : maker.only_user(node.outputs[0]);
  const bool flattens = next != nullptr && (next->op == "Flatten" || next->op == "Reshape" || next->op == "Squeeze") &&
                        next->inputs[0] == node.outputs[0] && maker.shape(next->outputs[0]).size() == 2;
  if (drops || flattens) {
    return maker.add(Op::global_average_pool, node, {node.inputs[0]}, {}, flattens ? next : nullptr);
  }
  Attributes a;
  a.kernel = a.stride = Pair{input[2], input[3]};
  a.padding = Pair{0, 0};
  a.ceil = false;
  a.count_padding = true;
  maker.add(Op::average_pool, node, {node.inputs[0]}, std::move(a));
}

void mean(GraphMaker& maker, const Node& node) {
  auto axes = node.has_input(1) ? maker.integers(node, 1).value_or(Pair{}) : node.integers("axes");
  std::sort(axes.begin(), axes.end());
  need(node, axes == Pair{2, 3} || axes == Pair{-2, -1}, "a mean over other axes than height and width");
  global_average(maker, node, node.integer("keepdims", 1) == 0);
}

void flatten(GraphMaker& maker, const Node& node) {
  const auto& input = maker.shape(node.inputs[0]);
  const auto& output = maker.shape(node.outputs[0]);
  if (input == output) return maker.alias(node);
  const bool flat = output.size() == 2 && !input.empty() && output[0] == input[0];
  need(node, flat, "a change of shape other than flattening");
  maker.add(Op::flatten, node, {node.inputs[0]});
}

void dropout(GraphMaker& maker, const Node& node) {
  Attributes a;
  a.probability = node.has_input(1) ? maker.real(node, 1) : std::optional(node.real("ratio", 0.5));
  maker.add(Op::dropout, node, {node.inputs[0]}, std::move(a));
}

void concat(GraphMaker& maker, const Node& node) {
  const auto axis = node.integer("axis", 1);
  need(node, axis == 1 || axis == 1 - static_cast<std::int64_t>(maker.shape(node.inputs[0]).size()),
       "joining along another axis than the first after the batch");
  maker.add(Op::concat, node, node.inputs);
}

void pairwise(GraphMaker& maker, const Node& node) {
  need(node, node.inputs.size() == 2, "another number of inputs than two");
  auto inputs = node.inputs;
  const bool same_rank = maker.shape(inputs[0]).size() == maker.shape(inputs[1]).size();
  need(node, same_rank, "inputs with different numbers of dimensions");
  if (maker.shape(inputs[0]) != maker.shape(node.outputs[0])) std::swap(inputs[0], inputs[1]);
  maker.add(node.op == "Add" ? Op::add : Op::multiply, node, inputs);
}

void gather(GraphMaker& maker, const Node& node) {
  Attributes a;
  const auto* table = maker.parameter(node, 0, 2);
  if (table != nullptr && node.integer("axis", 0) == 0) {
    need(node, !maker.owner(table->name), "a weight that is shared");
    a.rows = table->dims[0];
    a.features = table->dims[1];
    maker.bound_integers(node.inputs[1], table->dims[0]);
    maker.add(Op::embedding, node, {node.inputs[1]}, std::move(a));
    return maker.own(table->name);
  }
  const auto index = maker.integers(node, 1);
  const auto& input = maker.shape(node.inputs[0]);
  const bool one = index && index->size() == 1 && maker.shape(node.inputs[1]).empty();
  need(node, one && node.integer("axis", 0) == 1 && input.size() > 1, "choosing other than one part after the batch");
  a.index = index->front() < 0 ? index->front() + input[1] : index->front();
  maker.add(Op::select, node, {node.inputs[0]}, std::move(a));
}

void slice(GraphMaker& maker, const Node& node) {
  const auto& input = maker.shape(node.inputs[0]);
  const auto begin = maker.integers(node, 1);
  const auto axis = maker.integers(node, 3);
  const auto step = node.has_input(4) ? maker.integers(node, 4) : std::optional(Pair{1});
  const auto last = static_cast<std::int64_t>(input.size()) - 1;
  need(node, begin && begin->size() == 1 && (axis == Pair{-1} || axis == Pair{last}) && step == Pair{1} && last > 0,
       "a slice that is not one of the last axis");
  Attributes a;
  a.begin = begin->front() < 0 ? begin->front() + input.back() : begin->front();
  a.length = maker.shape(node.outputs[0]).back();
  maker.add(Op::slice, node, {node.inputs[0]}, std::move(a));
}

void softmax(GraphMaker& maker, const Node& node) {
  const auto rank = static_cast<std::int64_t>(maker.shape(node.inputs[0]).size());
  const auto axis = node.integer("axis", maker.opset() < 13 ? 1 : -1);
  need(node, axis == -1 || axis == rank - 1, "a softmax over another axis than the last");
  maker.add(Op::softmax, node, {node.inputs[0]});
}

void hard_sigmoid(GraphMaker& maker, const Node& node) {
  const bool usual = std::abs(node.real("alpha", 0.2) - 1.0 / 6) < 1e-6 && node.real("beta", 0.5) == 0.5;
  need(node, usual, "another slope than 1/6");
  maker.add(Op::hard_sigmoid, node, {node.inputs[0]});
}

void gelu(GraphMaker& maker, const Node& node) {
  maker.add(node.text("approximate", "none") == "tanh" ? Op::gelu_tanh : Op::gelu, node, {node.inputs[0]});
}

Rule plain(Op op) {
  return [op](GraphMaker& maker, const Node& node) { maker.add(op, node, {node.inputs[0]}); };
}

/// A rule, and how many inputs an operator has at least.
struct Entry {
  Rule rule;
  std::size_t inputs = 1;
};

const std::map<std::string, Entry, std::less<>>& table() {
  static const std::map<std::string, Entry, std::less<>> made{
      {"Conv", {convolution, 2}},
      {"Gemm", {gemm, 2}},
      {"MatMul", {matrix_product, 2}},
      {"BatchNormalization", {norm}},
      {"LayerNormalization", {norm}},
      {"LRN", {local_response_norm}},
      {"Relu", {plain(Op::relu)}},
      {"Clip", {clip}},
      {"Gelu", {gelu}},
      {"Tanh", {plain(Op::tanh)}},
      {"Sigmoid", {plain(Op::sigmoid)}},
      {"HardSwish", {plain(Op::hard_swish)}},
      {"HardSigmoid", {hard_sigmoid}},
      {"Softmax", {softmax}},
      {"MaxPool", {pool}},
      {"AveragePool", {pool}},
      {"GlobalAveragePool", {[](GraphMaker& maker, const Node& node) { global_average(maker, node, false); }}},
      {"ReduceMean", {mean}},
      {"Flatten", {flatten}},
      {"Reshape", {flatten}},
      {"Dropout", {dropout}},
      {"Concat", {concat}},
      {"Add", {pairwise, 2}},
      {"Mul", {pairwise, 2}},
      {"Gather", {gather, 2}},
      {"Slice", {slice}},
      {"Identity", {[](GraphMaker& maker, const Node& node) { maker.alias(node); }}},
  };
  return made;
}

}  // namespace

void add_counterpart(GraphMaker& maker, const Node& node) {
  const auto it = table().find(node.op);
  if (!node.domain.empty() || it == table().end()) no_counterpart(node, "it has no counterpart");
  for (std::size_t i = 0; i < it->second.inputs; ++i) need(node, node.has_input(i), "an input left out");
  need(node, !node.outputs.empty() && !node.outputs[0].empty(), "an output left out");
  it->second.rule(maker, node);
}

}  // namespace assay::network::onnx
