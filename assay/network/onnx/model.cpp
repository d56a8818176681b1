#include "assay/network/onnx/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "assay/core/error.hpp"
#include "assay/core/text/protobuf.hpp"

namespace assay::network::onnx {
namespace {

using protobuf::Field;
using protobuf::Fields;

constexpr std::size_t kMostNodes = 100'000;
constexpr std::size_t kMostTensors = 100'000;
constexpr std::size_t kMostNames = 10'000;   // of one node
constexpr std::size_t kMostDimensions = 16;  // of one tensor
constexpr std::size_t kMostIntegers = 4096;  // that are kept of one tensor or attribute
constexpr std::int64_t kMostOfOne = std::int64_t{1} << 40;

template <typename T, typename Read>
void add(std::vector<T>& list, std::size_t most, const Field& field, Read read) {
  if (list.size() >= most) fail(ErrorKind::bad_input, "the ONNX file has more than {} of one kind", most);
  list.push_back(read(message_of(field)));
}

std::int64_t size_of(const Field& field) {
  const auto size = integer_of(field);
  if (size < 0 || size > kMostOfOne) fail(ErrorKind::bad_input, "the ONNX file has a dimension of {}", size);
  return size;
}

/// Little-endian integers of 4 or 8 bytes, where there are few.
std::optional<std::vector<std::int64_t>> raw_integers(std::string_view raw, std::size_t bytes) {
  if (raw.size() % bytes != 0 || raw.size() / bytes > kMostIntegers) return {};
  std::vector<std::int64_t> out;
  for (std::size_t at = 0; at < raw.size(); at += bytes) {
    std::uint64_t bits = 0;
    for (std::size_t i = bytes; i > 0; --i) bits = bits << 8 | static_cast<unsigned char>(raw[at + i - 1]);
    out.push_back(bytes == 8 ? static_cast<std::int64_t>(bits)
                             : static_cast<std::int32_t>(static_cast<std::uint32_t>(bits)));
  }
  return out;
}

/// A packed or single float, where it is the only one.
std::optional<double> one_real(std::string_view raw) {
  if (raw.size() != 4) return {};
  const auto bits = static_cast<std::uint32_t>(raw_integers(raw, 4)->front());
  const float value = std::bit_cast<float>(bits);
  return as_written(value);
}

Tensor read_tensor(std::string_view message) {
  Tensor tensor;
  std::vector<std::int64_t> numbers;
  std::string_view raw, reals;
  std::optional<float> single;
  Fields fields(message);
  while (const auto field = fields.next()) {
    switch (field->number) {
      case 1:
        add_integers(*field, kMostDimensions, tensor.dims);
        break;
      case 2:
        tensor.type = integer_of(*field);
        break;
      case 4:
        if (field->kind == Field::Kind::bytes) {
          reals = field->bytes;
        } else {
          single = real_of(*field);
        }
        break;
      case 5:
      case 7:  // a long list holds weights: not kept
        if (field->kind != Field::Kind::bytes || field->bytes.size() <= kMostIntegers) {
          add_integers(*field, kMostIntegers, numbers);
        }
        break;
      case 8:
        tensor.name = text_of(*field);
        break;
      case 9:
        raw = message_of(*field);
        break;
      default:
        break;
    }
  }
  double elements = 1;
  for (const auto size : tensor.dims) {
    if (size < 0 || size > kMostOfOne) fail(ErrorKind::bad_input, "{} has a dimension of {}", shown(tensor.name), size);
    elements *= static_cast<double>(size);
  }
  if (elements > static_cast<double>(kMostOfOne)) {
    fail(ErrorKind::bad_input, "the tensor {} is out of range", shown(tensor.name));
  }
  if (tensor.type == kInt64 || tensor.type == kInt32) {
    auto kept = raw.empty() ? std::optional(std::move(numbers)) : raw_integers(raw, tensor.type == kInt64 ? 8 : 4);
    if (kept && static_cast<double>(kept->size()) == elements) tensor.integers = std::move(kept);
  }
  if (tensor.type == kFloat && elements == 1) {
    tensor.real = single ? std::optional(as_written(*single)) : one_real(raw.empty() ? reals : raw);
  }
  return tensor;
}

Attribute read_attribute(std::string_view message) {
  Attribute attribute;
  Fields fields(message);
  while (const auto field = fields.next()) {
    switch (field->number) {
      case 1:
        attribute.name = text_of(*field);
        break;
      case 2:
        attribute.real = real_of(*field);
        break;
      case 3:
        attribute.integer = integer_of(*field);
        break;
      case 4:  // may be a whole program in operators of others
        if (message_of(*field).size() <= kMostIntegers) attribute.text = text_of(*field);
        break;
      case 5:
        attribute.tensor = read_tensor(message_of(*field));
        break;
      case 8:
        add_integers(*field, kMostIntegers, attribute.integers);
        break;
      default:
        break;  // lists of reals and texts, and graphs inside: what uses them is unknown here
    }
  }
  return attribute;
}

Node read_node(std::string_view message) {
  Node node;
  const auto add_name = [](std::vector<std::string>& names, const Field& field) {
    if (names.size() >= kMostNames) fail(ErrorKind::bad_input, "a node of the ONNX file has too many inputs");
    names.push_back(text_of(field));
  };
  Fields fields(message);
  while (const auto field = fields.next()) {
    switch (field->number) {
      case 1:
        add_name(node.inputs, *field);
        break;
      case 2:
        add_name(node.outputs, *field);
        break;
      case 3:
        node.name = text_of(*field);
        break;
      case 4:
        node.op = text_of(*field);
        break;
      case 5:
        add(node.attributes, 1000, *field, read_attribute);
        break;
      case 7:
        node.domain = text_of(*field);
        if (node.domain == "ai.onnx") node.domain.clear();
        break;
      default:
        break;
    }
  }
  return node;
}

ValueInfo::Dimension read_dimension(std::string_view message) {
  ValueInfo::Dimension dimension;
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == 1) dimension.size = size_of(*field);
    if (field->number == 2) dimension.symbol = text_of(*field);
  }
  return dimension;
}

std::vector<ValueInfo::Dimension> read_shape(std::string_view message) {
  std::vector<ValueInfo::Dimension> shape;
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == 1) add(shape, kMostDimensions, *field, read_dimension);
  }
  return shape;
}

ValueInfo read_value(std::string_view message) {
  ValueInfo value;
  const auto read_tensor_type = [&](std::string_view inner) {
    Fields fields(inner);
    while (const auto field = fields.next()) {
      if (field->number == 1) value.type = integer_of(*field);
      if (field->number == 2) value.shape = read_shape(message_of(*field));
    }
  };
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == 1) value.name = text_of(*field);
    if (field->number != 2) continue;
    Fields types(message_of(*field));
    while (const auto type = types.next()) {
      if (type->number == 1) read_tensor_type(message_of(*type));
    }
  }
  return value;
}

void read_graph(std::string_view message, Model& model) {
  Fields fields(message);
  while (const auto field = fields.next()) {
    switch (field->number) {
      case 1:
        add(model.nodes, kMostNodes, *field, read_node);
        break;
      case 2:
        model.name = text_of(*field);
        break;
      case 5:
        add(model.initializers, kMostTensors, *field, read_tensor);
        break;
      case 11:
        add(model.inputs, kMostTensors, *field, read_value);
        break;
      case 12:
        add(model.outputs, kMostTensors, *field, read_value);
        break;
      case 13:
        add(model.values, kMostTensors, *field, read_value);
        break;
      default:
        break;
    }
  }
}

void read_opset(std::string_view message, Model& model) {
  std::string domain;
  std::int64_t version = 0;
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == 1) domain = text_of(*field);
    if (field->number == 2) version = integer_of(*field);
  }
  if (domain.empty() || domain == "ai.onnx") model.opset = version;
}

Model read_messages(std::string_view bytes) {
  Model model;
  bool found = false;
  Fields fields(bytes);
  while (const auto field = fields.next()) {
    if (field->number == 7) {
      if (found) fail(ErrorKind::bad_input, "the ONNX file has two graphs");
      found = true;
      read_graph(message_of(*field), model);
    }
    if (field->number == 8) read_opset(message_of(*field), model);
  }
  if (!found || model.nodes.empty()) fail(ErrorKind::bad_input, "this is not an ONNX file: it has no graph");
  return model;
}

}  // namespace

bool is_real(std::int64_t type) {
  return type == kFloat || type == kFloat16 || type == kDouble || type == kBfloat16;
}

const Attribute* Node::find(std::string_view wanted) const {
  const auto it = std::find_if(attributes.begin(), attributes.end(), [&](const auto& a) { return a.name == wanted; });
  return it == attributes.end() ? nullptr : &*it;
}

std::int64_t Node::integer(std::string_view wanted, std::int64_t otherwise) const {
  const auto* found = find(wanted);
  return found != nullptr ? found->integer : otherwise;
}

double Node::real(std::string_view wanted, double otherwise) const {
  const auto* found = find(wanted);
  return found != nullptr ? as_written(found->real) : otherwise;
}

std::string Node::text(std::string_view wanted, const char* otherwise) const {
  const auto* found = find(wanted);
  return found != nullptr ? found->text : otherwise;
}

std::vector<std::int64_t> Node::integers(std::string_view wanted) const {
  const auto* found = find(wanted);
  return found != nullptr ? found->integers : std::vector<std::int64_t>{};
}

Model read_model(std::string_view bytes) {
  try {
    return read_messages(bytes);
  } catch (const protobuf::NoMessage& error) {
    fail(ErrorKind::bad_input, "this is not an ONNX file: {}", error.what());
  }
}

std::string title_of(const Node& node) {
  const auto& name = !node.name.empty() || node.outputs.empty() ? node.name : node.outputs[0];
  return fmt::format("operator {} (node {})", shown(node.op), shown(name));
}

double as_written(float value) {
  if (!std::isfinite(value)) return value;
  const std::string text = fmt::format("{}", value);
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

}  // namespace assay::network::onnx
