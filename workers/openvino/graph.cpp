#include <openvino/opsets/opset14.hpp>

#include "workers/openvino/network.hpp"
#include "workers/openvino/operators.hpp"

namespace assay::openvino {
namespace {

std::set<std::string> operator_names() {
  std::set<std::string> names;
  for (const auto& [name, entry] : operators()) names.insert(name);
  return names;
}

/// The model runs on a copy in OpenVINO's own memory, which is aligned as it likes it.
ov::Tensor copied(const worker::Value& value) {
  ov::Tensor tensor(type_of(value), shape_of(value.shape));
  std::memcpy(tensor.data(), value.data.get(), value.bytes());
  return tensor;
}

const Output& found(const std::map<std::string, Output>& outputs, const std::string& name) {
  const auto it = outputs.find(name);
  if (it == outputs.end()) fail(ErrorKind::bad_input, "graph: there is no node or input {}", shown(name));
  return it->second;
}

/// What is the same for each sample stays a batch of one until an operator needs it in full: OpenVINO would fold the
/// copies into a constant that each step reads from memory.
Output whole(const Output& x, std::int64_t batch) {
  ov::Shape shape = x.get_shape();
  if (shape[0] == static_cast<std::size_t>(batch)) return x;
  shape[0] = static_cast<std::size_t>(batch);
  const auto target = ov::opset14::Constant::create(ov::element::i64, {shape.size()}, shape);
  return std::make_shared<ov::opset14::Broadcast>(x, target);
}

bool copies_samples(const std::string& op) {
  return op == "add" || op == "multiply";
}

void check_shape(const worker::GraphNode& node, const Output& out, std::int64_t batch) {
  ov::Shape wanted{static_cast<std::size_t>(batch)}, found = out.get_shape();
  wanted.insert(wanted.end(), node.shape.begin(), node.shape.end());
  if (found == wanted) return;
  wanted[0] = 1;
  if (found == wanted) return;
  throw std::runtime_error(fmt::format("node {} has the shape {} where the graph says {} for each sample", node.name,
                                       found.to_string(), shape_of(node.shape).to_string()));
}

}  // namespace

Network build_graph(const worker::Prepare& prepare) {
  const worker::Graph graph = worker::read_graph(prepare.graph, operator_names());
  const worker::GraphValues values(prepare, graph);
  Building building(values, prepare.workload.batch);
  Network network;
  ov::ParameterVector parameters;
  std::map<std::string, Output> outputs;
  for (const auto& input : graph.inputs) {
    const auto tensor = copied(values.input(input));
    const auto parameter = std::make_shared<ov::opset14::Parameter>(tensor.get_element_type(), tensor.get_shape());
    parameter->set_friendly_name(input.name);
    network.inputs.push_back(tensor);
    parameters.push_back(parameter);
    outputs[input.name] = parameter;
  }
  for (const auto& node : graph.nodes) {
    Inputs inputs;
    for (const auto& name : node.inputs) {
      const Output& input = found(outputs, name);
      inputs.push_back(copies_samples(node.op) ? input : whole(input, building.batch()));
    }
    const Output out = operators().at(node.op)(node, inputs, building);
    check_shape(node, out, building.batch());
    if (node.op != "dropout") out.get_node()->set_friendly_name(node.name);
    outputs[node.name] = out;
  }
  network.parameters = building.parameters();
  if (building.parameters() != graph.parameters) {
    throw std::runtime_error(
        fmt::format("the network has {} parameters where the graph says {}", building.parameters(), graph.parameters));
  }
  const auto result = std::make_shared<ov::opset14::Result>(whole(found(outputs, graph.output), building.batch()));
  network.model = std::make_shared<ov::Model>(ov::ResultVector{result}, parameters, graph.name);
  return network;
}

}  // namespace assay::openvino
