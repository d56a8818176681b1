#include "assay/network/onnx/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace assay::network::onnx {
namespace {

using Pair = std::vector<std::int64_t>;

[[noreturn]] void no_counterpart(const Node& node, const std::string& why = "it has no counterpart") {
  fail(ErrorKind::bad_input, "{}: {} among Assay's operators", title_of(node), why);
}

void need(const Node& node, bool fine, const char* what) {
  if (!fine) no_counterpart(node, fmt::format("{} has no counterpart", what));
}

/// Letters, digits, _ and . of a name, others as _.
std::string cleaned(const std::string& name) {
  std::string out;
  for (const char c : name.substr(0, 150)) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    out += fine ? c : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : '_';
  }
  return out.empty() ? "value" : out;
}

class GraphMaker {
 public:
  GraphMaker(const Model& model, const Values& values) : model_(model), values_(values) {
    for (const auto& tensor : model.initializers) tensors_[tensor.name] = &tensor;
    for (std::size_t i = 0; i < model.nodes.size(); ++i) {
      for (const auto& output : model.nodes[i].outputs) makers_[output] = &model.nodes[i];
      if (!values.needed[i]) continue;
      for (const auto& input : model.nodes[i].inputs) users_[input].push_back(&model.nodes[i]);
    }
    for (const auto& output : model.outputs) users_[output.name].push_back(nullptr);
  }

  Graph run() {
    if (model_.outputs.size() != 1) {
      fail(ErrorKind::bad_input, "the network has {} outputs; a graph of Assay's has one", model_.outputs.size());
    }
    graph_.name = cleaned(model_.name);
    for (const auto& input : model_.inputs) add_input(input);
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      const auto& node = model_.nodes[i];
      const bool computed = values_.needed[i] && std::any_of(node.inputs.begin(), node.inputs.end(), [&](auto& name) {
                              return !name.empty() && !values_.of(name).constant;
                            });
      if (computed && fused_.count(&node) == 0) add_node(node);
    }
    for (auto& input : graph_.inputs) {
      if (input.type == InputType::integer && !input.below) {
        fail(ErrorKind::bad_input, "input {}: no embedding says below which number its integers are",
             shown(input.name));
      }
    }
    graph_.output = name_of_value(model_.outputs[0].name);
    complete(graph_);
    return std::move(graph_);
  }

 private:
  // What is known of the file.

  const Shape& shape(const std::string& value) const {
    const auto& found = values_.of(value).shape;
    if (!found) fail(ErrorKind::bad_input, "the shape of {} is not known", shown(value));
    return *found;
  }

  const std::string& name_of_value(const std::string& value) const {
    const auto it = names_.find(value);
    if (it == names_.end()) fail(ErrorKind::bad_input, "{} is a constant, for which there is no node", shown(value));
    return it->second;
  }

  /// The only node that uses a value.
  const Node* only_user(const std::string& value) const {
    const auto it = users_.find(value);
    return it != users_.end() && it->second.size() == 1 ? it->second[0] : nullptr;
  }

  /// A real constant of one value.
  std::optional<double> real(const Node& node, std::size_t input) const {
    if (!node.has_input(input)) return {};
    const auto& name = node.inputs[input];
    if (const auto it = tensors_.find(name); it != tensors_.end()) return it->second->real;
    const auto it = makers_.find(name);
    if (it == makers_.end() || it->second->op != "Constant") return {};
    const auto* value = it->second->find("value");
    return value != nullptr && value->tensor ? value->tensor->real : std::nullopt;
  }

  bool is_parameter(const Node& node, std::size_t input, std::size_t rank) const {
    if (!node.has_input(input)) return false;
    const auto it = tensors_.find(node.inputs[input]);
    return it != tensors_.end() && it->second->dims.size() == rank && is_real(it->second->type);
  }

  // Adding to the graph.

  std::string unique(const std::string& value) {
    std::string name = cleaned(value);
    if (name == "loss" || name == "update") name += "_";
    std::string tried = name;
    for (int i = 2; !taken_.insert(tried).second; ++i) tried = fmt::format("{}.{}", name, i);
    return tried;
  }

  void add_input(const ValueInfo& input) {
    if (tensors_.count(input.name) != 0) return;
    const auto& whole = shape(input.name);
    if (whole.empty()) fail(ErrorKind::bad_input, "input {} has no batch", shown(input.name));
    Input made{unique(input.name), Shape(whole.begin() + 1, whole.end()), InputType::real, {}};
    if (input.type != kFloat) made.type = InputType::integer;
    names_[input.name] = made.name;
    graph_.inputs.push_back(std::move(made));
  }

  void add(Op op, const Node& node, const std::vector<std::string>& values, Attributes attributes = {},
           const Node* last = nullptr) {
    network::Node made;
    const auto& output = (last != nullptr ? *last : node).outputs.at(0);
    for (const auto& value : values) {
      if (names_.count(value) == 0) no_counterpart(node, fmt::format("the constant {} has no node", shown(value)));
      made.inputs.push_back(names_.at(value));
    }
    made.name = unique(output);
    made.op = op;
    made.attributes = std::move(attributes);
    names_[output] = made.name;
    if (last != nullptr) fused_.insert(last);
    graph_.nodes.push_back(std::move(made));
  }

  void alias(const Node& node) { names_[node.outputs.at(0)] = name_of_value(node.inputs.at(0)); }

  // Operators.

  Attributes window(const Node& node, Pair kernel) const {
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

  void convolution(const Node& node) {
    need(node, is_parameter(node, 1, 4), "a convolution without a stored weight of four dimensions");
    const auto& weight = tensors_.at(node.inputs[1])->dims;
    need_unused(node, node.inputs[1]);
    auto a = window(node, {weight[2], weight[3]});
    a.channels = weight[0];
    a.groups = node.integer("group", 1);
    a.bias = node.has_input(2);
    need(node, !*a.bias || is_parameter(node, 2, 1), "a bias that is not stored");
    add(Op::convolution, node, {node.inputs[0]}, std::move(a));
    owners_[node.inputs[1]] = names_.at(node.outputs[0]);
  }

  /// A stored weight belongs to the node that uses it first.
  void need_unused(const Node& node, const std::string& weight) const {
    need(node, owners_.count(weight) == 0, "a weight that is shared");
  }

  /// `turned`: the weight lies as [out, in]. `last`: the node that adds the bias, where that is another one.
  void linear(const Node& node, bool turned, const Node* bias, const Node* last) {
    std::string weight = node.inputs[1];
    if (const auto it = makers_.find(weight); it != makers_.end() && it->second->op == "Transpose") {
      need(node, it->second->integers("perm") == Pair{1, 0}, "a weight computed");
      weight = it->second->inputs.at(0);
      turned = !turned;
    }
    const auto it = tensors_.find(weight);
    need(node, it != tensors_.end() && it->second->dims.size() == 2, "a product with what is no stored matrix");
    Attributes a;
    a.features = it->second->dims[turned ? 0 : 1];
    a.bias = bias != nullptr;
    const auto output = (last != nullptr ? *last : node).outputs.at(0);
    if (const auto owner = owners_.find(weight); owner != owners_.end()) {
      need(node, turned, "a weight that is shared");
      a.shared = owner->second;
    }
    add(Op::linear, node, {node.inputs[0]}, std::move(a), last);
    owners_.emplace(weight, names_.at(output));
  }

  void gemm(const Node& node) {
    need(node, node.integer("transA", 0) == 0 && node.real("alpha", 1) == 1 && node.real("beta", 1) == 1, "scaling");
    const bool bias = node.has_input(2);
    need(node, !bias || is_parameter(node, 2, 1), "a bias that is not stored");
    linear(node, node.integer("transB", 0) != 0, bias ? &node : nullptr, nullptr);
  }

  void matrix_product(const Node& node) {
    const auto* next = only_user(node.outputs.at(0));
    const bool bias = next != nullptr && next->op == "Add" && next->inputs.size() == 2 &&
                      is_parameter(*next, next->inputs[0] == node.outputs[0] ? 1 : 0, 1);
    linear(node, false, bias ? next : nullptr, bias ? next : nullptr);
  }

  void norm(const Node& node) {
    const bool batch = node.op == "BatchNormalization";
    for (std::size_t i = 1; i < (batch ? 5u : 3u); ++i) {
      need(node, is_parameter(node, i, 1), "a norm without a stored scale and bias");
    }
    const auto rank = static_cast<std::int64_t>(shape(node.inputs[0]).size());
    const auto axis = node.integer("axis", -1);
    need(node, batch || axis == -1 || axis == rank - 1, "a norm over several axes");
    Attributes a;
    a.epsilon = node.real("epsilon", 1e-5);
    add(batch ? Op::batch_norm : Op::layer_norm, node, {node.inputs[0]}, std::move(a));
  }

  void local_response_norm(const Node& node) {
    Attributes a;
    a.size = node.integer("size", 0);
    a.alpha = node.real("alpha", 1e-4);
    a.beta = node.real("beta", 0.75);
    a.k = node.real("bias", 1);
    add(Op::local_response_norm, node, {node.inputs[0]}, std::move(a));
  }

  void clip(const Node& node) {
    const bool old = node.inputs.size() == 1;
    const auto least = old ? std::optional(node.real("min", -1)) : real(node, 1);
    const auto most = old ? std::optional(node.real("max", std::numeric_limits<double>::infinity())) : real(node, 2);
    const bool open = !node.has_input(2) && !old;
    need(node, least == 0.0 && (open || most == 6.0 || (most && std::isinf(*most))), "a clip that is not 0 to 6");
    add(most == 6.0 ? Op::relu6 : Op::relu, node, {node.inputs[0]});
  }

  void pool(const Node& node) {
    auto a = window(node, node.integers("kernel_shape"));
    a.ceil = node.integer("ceil_mode", 0) != 0;
    if (node.op == "AveragePool") a.count_padding = node.integer("count_include_pad", 0) != 0;
    add(node.op == "MaxPool" ? Op::max_pool : Op::average_pool, node, {node.inputs[0]}, std::move(a));
  }

  /// A mean over height and width; [channels] where the two are dropped, here or by the node behind.
  void global_average(const Node& node, bool drops) {
    const auto& input = shape(node.inputs[0]);
    need(node, input.size() == 4, "a mean of what is no image");
    const auto* next = drops ? nullptr : only_user(node.outputs.at(0));
    const bool flattened = next != nullptr &&
                           (next->op == "Flatten" || next->op == "Reshape" || next->op == "Squeeze") &&
                           shape(next->outputs.at(0)).size() == 2 && next->inputs[0] == node.outputs[0];
    if (drops || flattened) return add(Op::global_average_pool, node, {node.inputs[0]}, {}, flattened ? next : nullptr);
    Attributes a;
    a.kernel = a.stride = Pair{input[2], input[3]};
    a.padding = Pair{0, 0};
    a.ceil = false;
    a.count_padding = true;
    add(Op::average_pool, node, {node.inputs[0]}, std::move(a));
  }

  void mean(const Node& node) {
    auto axes = node.integers("axes");
    if (node.has_input(1)) axes = values_.of(node.inputs[1]).integers.value_or(Pair{});
    std::sort(axes.begin(), axes.end());
    need(node, axes == Pair{2, 3} || axes == Pair{-2, -1}, "a mean over other axes than height and width");
    global_average(node, node.integer("keepdims", 1) == 0);
  }

  void flatten(const Node& node) {
    const auto& input = shape(node.inputs[0]);
    const auto& output = shape(node.outputs.at(0));
    if (input == output) return alias(node);
    need(node, output.size() == 2 && !input.empty() && output[0] == input[0],
         "a change of shape that is no flattening");
    add(Op::flatten, node, {node.inputs[0]});
  }

  void dropout(const Node& node) {
    Attributes a;
    a.probability = node.has_input(1) ? real(node, 1) : std::optional(node.real("ratio", 0.5));
    add(Op::dropout, node, {node.inputs[0]}, std::move(a));
  }

  void concat(const Node& node) {
    const auto axis = node.integer("axis", 1);
    need(node, axis == 1 || axis == 1 - static_cast<std::int64_t>(shape(node.inputs.at(0)).size()),
         "joining along another axis than the first behind the batch");
    add(Op::concat, node, node.inputs);
  }

  void pairwise(const Node& node, Op op) {
    need(node, node.inputs.size() == 2, "another number of inputs than two");
    auto inputs = node.inputs;
    need(node, shape(inputs[0]).size() == shape(inputs[1]).size(), "inputs with different numbers of dimensions");
    if (shape(inputs[0]) != shape(node.outputs.at(0))) std::swap(inputs[0], inputs[1]);
    add(op, node, inputs);
  }

  void gather(const Node& node) {
    const auto& indices = values_.of(node.inputs.at(1));
    Attributes a;
    if (is_parameter(node, 0, 2) && node.integer("axis", 0) == 0) {
      const auto& table = tensors_.at(node.inputs[0])->dims;
      need_unused(node, node.inputs[0]);
      a.rows = table[0];
      a.features = table[1];
      bound_integers(node.inputs[1], table[0]);
      add(Op::embedding, node, {node.inputs[1]}, std::move(a));
      owners_[node.inputs[0]] = names_.at(node.outputs[0]);
      return;
    }
    need(node, node.integer("axis", 0) == 1 && indices.integers && indices.shape->empty(), "choosing several parts");
    const auto& input = shape(node.inputs[0]);
    a.index = indices.integers->at(0);
    if (*a.index < 0 && input.size() > 1) *a.index += input[1];
    add(Op::select, node, {node.inputs[0]}, std::move(a));
  }

  void bound_integers(const std::string& value, std::int64_t below) {
    const auto& name = name_of_value(value);
    for (auto& input : graph_.inputs) {
      if (input.name == name && input.type == InputType::integer)
        input.below = std::min(input.below.value_or(below), below);
    }
  }

  void slice(const Node& node) {
    const auto& input = shape(node.inputs[0]);
    const auto& output = shape(node.outputs.at(0));
    const auto begin = node.has_input(1) ? values_.of(node.inputs[1]).integers : std::nullopt;
    const auto axis = node.has_input(3) ? values_.of(node.inputs[3]).integers : std::nullopt;
    const auto step = node.has_input(4) ? values_.of(node.inputs[4]).integers : std::optional(Pair{1});
    const auto last = static_cast<std::int64_t>(input.size()) - 1;
    need(node, begin && begin->size() == 1 && axis && (*axis == Pair{-1} || *axis == Pair{last}) && step == Pair{1},
         "a slice that is not one of the last axis");
    Attributes a;
    a.begin = begin->at(0) < 0 ? begin->at(0) + input.back() : begin->at(0);
    a.length = output.back();
    add(Op::slice, node, {node.inputs[0]}, std::move(a));
  }

  void softmax(const Node& node) {
    const auto rank = static_cast<std::int64_t>(shape(node.inputs.at(0)).size());
    const auto axis = node.integer("axis", model_.opset < 13 ? 1 : -1);
    need(node, axis == -1 || axis == rank - 1, "a softmax over another axis than the last");
    add(Op::softmax, node, {node.inputs[0]});
  }

  void hard_sigmoid(const Node& node) {
    const bool fine = std::abs(node.real("alpha", 0.2) - 1.0 / 6) < 1e-6 && node.real("beta", 0.5) == 0.5;
    need(node, fine, "another slope than 1/6");
    add(Op::hard_sigmoid, node, {node.inputs[0]});
  }

  void add_node(const Node& node) {
    const auto& op = node.op;
    if (!node.domain.empty() || node.inputs.empty() || node.inputs[0].empty()) no_counterpart(node);
    const auto plain = [&](Op made) { add(made, node, {node.inputs[0]}); };
    if (op == "Conv") return convolution(node);
    if (op == "Gemm") return gemm(node);
    if (op == "MatMul") return matrix_product(node);
    if (op == "BatchNormalization" || op == "LayerNormalization") return norm(node);
    if (op == "LRN") return local_response_norm(node);
    if (op == "Relu") return plain(Op::relu);
    if (op == "Clip") return clip(node);
    if (op == "Gelu") return plain(node.text("approximate", "none") == "tanh" ? Op::gelu_tanh : Op::gelu);
    if (op == "Tanh") return plain(Op::tanh);
    if (op == "Sigmoid") return plain(Op::sigmoid);
    if (op == "HardSwish") return plain(Op::hard_swish);
    if (op == "HardSigmoid") return hard_sigmoid(node);
    if (op == "Softmax") return softmax(node);
    if (op == "MaxPool" || op == "AveragePool") return pool(node);
    if (op == "GlobalAveragePool") return global_average(node, false);
    if (op == "ReduceMean") return mean(node);
    if (op == "Flatten" || op == "Reshape") return flatten(node);
    if (op == "Dropout") return dropout(node);
    if (op == "Concat") return concat(node);
    if (op == "Add") return pairwise(node, Op::add);
    if (op == "Mul") return pairwise(node, Op::multiply);
    if (op == "Gather") return gather(node);
    if (op == "Slice") return slice(node);
    if (op == "Identity") return alias(node);
    no_counterpart(node);
  }

  const Model& model_;
  const Values& values_;
  std::map<std::string, const Tensor*> tensors_;
  std::map<std::string, const Node*> makers_;              ///< by output
  std::map<std::string, std::vector<const Node*>> users_;  ///< by input; the network's end is null
  std::map<std::string, std::string> names_;               ///< of values in the graph
  std::map<std::string, std::string> owners_;              ///< of stored weights
  std::set<std::string> taken_;
  std::set<const Node*> fused_;
  Graph graph_;
};

}  // namespace

Graph to_graph(const Model& model, const Values& values) {
  return GraphMaker(model, values).run();
}

}  // namespace assay::network::onnx
