#include "assay/network/onnx/graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "assay/network/onnx/graph_maker.hpp"

namespace assay::network::onnx {
namespace {

/// Letters, digits, _ and . of a name, others as _.
std::string cleaned(const std::string& name) {
  std::string out;
  for (const char c : name.substr(0, 150)) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    const bool capital = c >= 'A' && c <= 'Z';
    out += fine ? c : capital ? static_cast<char>(c - 'A' + 'a') : '_';
  }
  return out.empty() ? "value" : out;
}

}  // namespace

GraphMaker::GraphMaker(const Model& model, const Values& values) : model_(model), values_(values) {
  for (const auto& tensor : model.initializers) tensors_[tensor.name] = &tensor;
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    for (const auto& output : model.nodes[i].outputs) makers_[output] = &model.nodes[i];
    if (!values.needed[i]) continue;
    for (const auto& input : model.nodes[i].inputs) users_[input].push_back(&model.nodes[i]);
  }
  for (const auto& output : model.outputs) users_[output.name].push_back(nullptr);
}

Graph GraphMaker::run() {
  if (model_.outputs.size() != 1) {
    fail(ErrorKind::bad_input, "the network has {} outputs; a graph of Assay's has one", model_.outputs.size());
  }
  graph_.name = cleaned(model_.name);
  for (const auto& input : model_.inputs) add_input(input);
  for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
    const auto& node = model_.nodes[i];
    const auto varies = [&](const auto& name) { return !name.empty() && !values_.of(name).constant; };
    const bool computed = values_.needed[i] && std::any_of(node.inputs.begin(), node.inputs.end(), varies);
    if (computed && fused_.count(&node) == 0) add_counterpart(*this, node);
  }
  for (const auto& input : graph_.inputs) {
    if (input.type == InputType::integer && !input.below) {
      fail(ErrorKind::bad_input, "input {}: no embedding says below which number its integers are", shown(input.name));
    }
  }
  const auto output = names_.find(model_.outputs[0].name);
  if (output == names_.end()) fail(ErrorKind::bad_input, "the output of the network is constant");
  graph_.output = output->second;
  complete(graph_);
  return std::move(graph_);
}

const Shape& GraphMaker::shape(const std::string& value) const {
  const auto& found = values_.of(value).shape;
  if (!found) fail(ErrorKind::bad_input, "the shape of {} is not known", shown(value));
  return *found;
}

std::optional<std::vector<std::int64_t>> GraphMaker::integers(const Node& node, std::size_t input) const {
  if (!node.has_input(input)) return {};
  return values_.of(node.inputs[input]).integers;
}

std::optional<double> GraphMaker::real(const Node& node, std::size_t input) const {
  if (!node.has_input(input)) return {};
  if (const auto it = tensors_.find(node.inputs[input]); it != tensors_.end()) return it->second->real;
  const auto* made = maker(node.inputs[input]);
  const auto* value = made != nullptr && made->op == "Constant" ? made->find("value") : nullptr;
  return value != nullptr && value->tensor ? value->tensor->real : std::nullopt;
}

const Tensor* GraphMaker::parameter(const Node& node, std::size_t input, std::size_t rank) const {
  if (!node.has_input(input)) return nullptr;
  const auto it = tensors_.find(node.inputs[input]);
  const bool fine = it != tensors_.end() && it->second->dims.size() == rank && is_real(it->second->type);
  return fine ? it->second : nullptr;
}

const Node* GraphMaker::maker(const std::string& value) const {
  const auto it = makers_.find(value);
  return it != makers_.end() ? it->second : nullptr;
}

const Node* GraphMaker::only_user(const std::string& value) const {
  const auto it = users_.find(value);
  return it != users_.end() && it->second.size() == 1 ? it->second[0] : nullptr;
}

std::optional<GraphMaker::Owner> GraphMaker::owner(const std::string& weight) const {
  const auto it = owners_.find(weight);
  return it != owners_.end() ? std::optional(it->second) : std::nullopt;
}

void GraphMaker::add(Op op, const Node& node, const std::vector<std::string>& values, Attributes attributes,
                     const Node* last) {
  network::Node made;
  for (const auto& value : values) {
    const auto it = names_.find(value);
    if (it == names_.end()) no_counterpart(node, fmt::format("the constant {} has no counterpart", shown(value)));
    made.inputs.push_back(it->second);
  }
  const auto& output = (last != nullptr ? *last : node).outputs[0];
  made.name = unique(output);
  made.op = op;
  made.attributes = std::move(attributes);
  names_[output] = made.name;
  if (last != nullptr) fused_.insert(last);
  graph_.nodes.push_back(std::move(made));
}

void GraphMaker::own(const std::string& weight, bool transposed) {
  owners_[weight] = {graph_.nodes.back().name, transposed};
}

void GraphMaker::alias(const Node& node) {
  const auto it = names_.find(node.inputs[0]);
  if (it == names_.end())
    no_counterpart(node, fmt::format("the constant {} has no counterpart", shown(node.inputs[0])));
  names_[node.outputs[0]] = it->second;
}

void GraphMaker::bound_integers(const std::string& value, std::int64_t below) {
  const auto it = names_.find(value);
  for (auto& input : graph_.inputs) {
    if (it == names_.end() || input.name != it->second || input.type != InputType::integer) continue;
    input.below = std::min(input.below.value_or(below), below);
  }
}

void GraphMaker::add_input(const ValueInfo& input) {
  if (tensors_.count(input.name) != 0) return;
  const auto& whole = shape(input.name);
  if (whole.empty()) fail(ErrorKind::bad_input, "input {} has no batch", shown(input.name));
  Input made{unique(input.name), Shape(whole.begin() + 1, whole.end()), InputType::real, {}};
  if (input.type != kFloat) made.type = InputType::integer;
  names_[input.name] = made.name;
  graph_.inputs.push_back(std::move(made));
}

std::string GraphMaker::unique(const std::string& value) {
  std::string name = cleaned(value);
  if (name == "loss" || name == "update") name += "_";
  std::string tried = name;
  for (int i = 2; !taken_.insert(tried).second; ++i) tried = fmt::format("{}.{}", name, i);
  return tried;
}

void no_counterpart(const Node& node, const std::string& why) {
  fail(ErrorKind::bad_input, "{}: {} among Assay's operators", title_of(node), why);
}

Graph to_graph(const Model& model, const Values& values) {
  return GraphMaker(model, values).run();
}

}  // namespace assay::network::onnx
