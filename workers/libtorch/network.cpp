#include "workers/libtorch/network.hpp"

#include <algorithm>
#include <set>

#include "assay/core/workloads/learning.hpp"

namespace assay::libtorch {
namespace {

std::set<std::string> operator_names() {
  std::set<std::string> names;
  for (const auto& [name, entry] : operators()) names.insert(name);
  return names;
}

/// Which nodes may write over their input: nobody else needs it, neither in the backward pass.
class Overwriting {
 public:
  explicit Overwriting(const worker::Graph& graph) {
    ++consumers_[graph.output];
    for (const auto& node : graph.nodes) {
      for (const auto& input : node.inputs) ++consumers_[input];
      operator_of_[node.name] = node.op;
    }
  }

  Operator best(const GraphNode& node) const {
    const auto plain = operators().at(node.op);
    const auto in_place = overwriting(node.op);
    if (in_place == nullptr || node.inputs.size() != 1) return plain;
    const auto source = operator_of_.find(node.inputs[0]);
    const bool may =
        source != operator_of_.end() && keeps_no_output(source->second) && consumers_.at(node.inputs[0]) == 1;
    return may ? in_place : plain;
  }

 private:
  std::map<std::string, int> consumers_;
  std::map<std::string, std::string> operator_of_;
};

void check_parameters(const worker::Graph& graph, std::int64_t found) {
  if (found == graph.parameters) return;
  throw std::runtime_error(
      fmt::format("the network has {} parameters where the graph says {}", found, graph.parameters));
}

}  // namespace

worker::Graph graph_of(const worker::Prepare& prepare) {
  return worker::read_graph(prepare.graph, operator_names());
}

Network::Network(const worker::Prepare& prepare) : form_(form_of(prepare)) {
  const worker::Graph graph = graph_of(prepare);
  const worker::GraphValues values(prepare, graph);
  const bool trains = prepare.workload.mode == Mode::train, is_shown = prepare.workload.data == kDigits;
  Building building(values, form_, trains, is_shown || prepare.values.has_value());
  for (const auto& input : graph.inputs) {
    inputs_.push_back(is_shown ? Tensor() : form_.of(tensor_of(values.input(input))));
  }
  add_nodes(graph, building);
  named_parameters_ = building.parameters();
  filled_ = building.filled();
  check_parameters(graph, parameter_count());
  if (trains && !is_shown && graph.loss == "cross_entropy") target_ = tensor_of(values.target()).flatten();
  output_shape_.insert(output_shape_.begin(), prepare.workload.batch);
  note_last_uses();
  slots_.resize(inputs_.size() + nodes_.size());
}

void Network::add_nodes(const worker::Graph& graph, Building& building) {
  const Overwriting overwriting(graph);
  std::map<std::string, std::size_t> slot_of;
  const auto found = [&](const std::string& name) {
    const auto it = slot_of.find(name);
    if (it == slot_of.end()) fail(ErrorKind::bad_input, "graph: there is no node or input {}", shown(name));
    return it->second;
  };
  for (const auto& input : graph.inputs) slot_of.emplace(input.name, slot_of.size());
  for (const auto& node : graph.nodes) {
    Node made{node.name, overwriting.best(node)(node, building), {}, slot_of.size(), {}};
    for (const auto& name : node.inputs) made.inputs.push_back(found(name));
    if (!slot_of.emplace(node.name, made.output).second) {
      fail(ErrorKind::bad_input, "graph: two nodes or inputs are called {}", shown(node.name));
    }
    if (node.name == graph.output) output_shape_ = node.shape;
    nodes_.push_back(std::move(made));
  }
  output_ = found(graph.output);
}

/// Values are let go after the last node that uses them, as a function's own would be.
void Network::note_last_uses() {
  std::set<std::size_t> seen{output_};
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    for (const auto slot : node->inputs) {
      if (seen.insert(slot).second) node->last_uses.push_back(slot);
    }
    if (seen.insert(node->output).second) node->last_uses.push_back(node->output);
  }
}

void Network::begin(Tensors& slots) const {
  slots.resize(inputs_.size() + nodes_.size());
  std::copy(inputs_.begin(), inputs_.end(), slots.begin());
}

void Network::run(const Node& node, Tensors& slots) {
  Tensors in;
  in.reserve(node.inputs.size());
  for (const auto slot : node.inputs) in.push_back(slots[slot]);
  slots[node.output] = node.call(in);
  in.clear();
  for (const auto slot : node.last_uses) slots[slot].reset();
}

Tensor Network::end(Tensors& slots) const {
  Tensor output = std::move(slots[output_]);
  slots[output_].reset();
  return output;
}

Tensor Network::forward() {
  begin(slots_);
  for (const auto& node : nodes_) run(node, slots_);
  return end(slots_);
}

Tensor Network::loss(const Tensor& output) const {
  if (!target_) return output.square().mean();
  return at::cross_entropy_loss(output.flatten(0, -2), *target_);
}

Tensors Network::parameters() const {
  Tensors all;
  for (const auto& [name, tensor] : named_parameters_) all.push_back(tensor);
  return all;
}

void Network::show(const worker::Value& input, const worker::Value& target) {
  inputs_ = {form_.of(tensor_of(input))};
  target_ = tensor_of(target);
}

void Network::fill_again() {
  const at::NoGradGuard no_grad;
  for (auto& [tensor, value] : filled_) {
    if (value) tensor.copy_(tensor_of(*value));
  }
}

void Network::fill_as(const Network& other) {
  const at::NoGradGuard no_grad;
  ASSAY_CHECK(filled_.size() == other.filled_.size());
  for (std::size_t i = 0; i < filled_.size(); ++i) filled_[i].tensor.copy_(other.filled_[i].tensor);
}

}  // namespace assay::libtorch
