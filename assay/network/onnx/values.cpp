#include "assay/network/onnx/values.hpp"

#include <algorithm>
#include <set>

#include "assay/network/onnx/shapes.hpp"

namespace assay::network::onnx {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
constexpr std::size_t kMostDimensions = 64;

class Inference {
 public:
  explicit Inference(const Model& model) : model_(model) {}

  Values run() {
    for (const auto& tensor : model_.initializers) {
      out_.by_name[tensor.name] = {tensor.dims, tensor.integers, true};
    }
    for (const auto& input : model_.inputs) add_input(input);
    for (const auto& value : model_.values) said_[value.name] = said_shape(value);
    for (const auto& output : model_.outputs) said_[output.name] = said_shape(output);
    for (const auto& node : model_.nodes) add_node(node);
    mark_needed();
    return std::move(out_);
  }

 private:
  void add_input(const ValueInfo& input) {
    if (out_.by_name.count(input.name) != 0) return;  // files of old releases list initializers too
    Value value;
    if (input.shape) {
      Shape shape;
      for (std::size_t axis = 0; axis < input.shape->size(); ++axis) {
        const auto& dimension = (*input.shape)[axis];
        if (!dimension.size && axis > 0) {
          fail(ErrorKind::bad_input,
               "input {}: dimension {} ({}) is open. Export it with a size; only the batch may be open",
               shown(input.name), axis, dimension.symbol.empty() ? "unnamed" : shown(dimension.symbol));
        }
        if (!dimension.size) open_.insert(dimension.symbol);
        shape.push_back(dimension.size.value_or(1));
      }
      if (!batch_known_ && !shape.empty()) {
        batch_known_ = true;
        out_.batch = std::max<std::int64_t>(1, shape[0]);
      }
      count_of(shape);
      value.shape = std::move(shape);
    }
    out_.by_name[input.name] = std::move(value);
  }

  /// What the file says, with 1 for the batch; nothing where another dimension is open.
  std::optional<Shape> said_shape(const ValueInfo& value) const {
    if (!value.shape) return {};
    Shape shape;
    for (const auto& dimension : *value.shape) {
      const bool batch = !dimension.symbol.empty() && open_.count(dimension.symbol) != 0;
      if (!dimension.size && !batch) return {};
      shape.push_back(dimension.size.value_or(1));
    }
    count_of(shape);
    return shape;
  }

  void add_node(const Node& node) {
    std::vector<const Value*> inputs;
    bool constant = true, shaped = true;
    for (const auto& name : node.inputs) {
      inputs.push_back(name.empty() ? nullptr : &find(name, node));
      if (name.empty()) continue;
      constant = constant && inputs.back()->constant;
      shaped = shaped && inputs.back()->shape.has_value();
    }
    std::optional<std::vector<Shape>> shapes;
    std::optional<std::vector<std::int64_t>> integers;
    if (node.domain.empty() && shaped) {
      shapes = output_shapes(node, inputs);
      integers = output_integers(node, inputs);
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const auto& name = node.outputs[i];
      if (name.empty()) continue;
      Value value;
      value.constant = constant && node.op.find("Random") == std::string::npos;
      if (shapes && i < shapes->size()) {
        value.shape = (*shapes)[i];
        count_of(*value.shape);
      } else if (const auto it = said_.find(name); it != said_.end()) {
        value.shape = it->second;
      }
      if (i == 0) value.integers = integers;
      if (!out_.by_name.emplace(name, std::move(value)).second) {
        fail(ErrorKind::bad_input, "two values of the ONNX file are called {}", shown(name));
      }
    }
  }

  const Value& find(const std::string& name, const Node& node) const {
    const auto it = out_.by_name.find(name);
    if (it == out_.by_name.end()) {
      fail(ErrorKind::bad_input, "{} uses {}, which does not come before it", title_of(node), shown(name));
    }
    return it->second;
  }

  void mark_needed() {
    std::set<std::string> wanted;
    for (const auto& output : model_.outputs) {
      if (out_.by_name.count(output.name) == 0) {
        fail(ErrorKind::bad_input, "the ONNX file's output {} is not one of its values", shown(output.name));
      }
      wanted.insert(output.name);
    }
    out_.needed.resize(model_.nodes.size());
    for (std::size_t i = model_.nodes.size(); i > 0; --i) {
      const auto& node = model_.nodes[i - 1];
      out_.needed[i - 1] = std::any_of(node.outputs.begin(), node.outputs.end(),
                                       [&](const auto& name) { return wanted.count(name) != 0; });
      if (out_.needed[i - 1]) wanted.insert(node.inputs.begin(), node.inputs.end());
    }
  }

  const Model& model_;
  Values out_;
  bool batch_known_ = false;
  std::set<std::string> open_;  // symbols that stand for the batch
  std::map<std::string, std::optional<Shape>> said_;
};

}  // namespace

const Value& Values::of(const std::string& name) const {
  static const Value nothing;
  const auto it = by_name.find(name);
  return it != by_name.end() ? it->second : nothing;
}

Values infer_values(const Model& model) {
  return Inference(model).run();
}

std::int64_t count_of(const Shape& shape) {
  if (shape.size() > kMostDimensions) {
    fail(ErrorKind::bad_input, "the ONNX file has a tensor of {} dimensions", shape.size());
  }
  std::int64_t product = 1;
  for (const auto size : shape) {
    if (size < 0 || size > kMostElements || (product != 0 && size > kMostElements / product)) {
      fail(ErrorKind::bad_input, "the ONNX file has a tensor beyond all bounds");
    }
    product *= size;
  }
  return product;
}

}  // namespace assay::network::onnx
