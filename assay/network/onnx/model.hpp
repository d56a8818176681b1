#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::network::onnx {

/// Types of values, as TensorProto numbers them.
constexpr std::int64_t kFloat = 1, kInt32 = 6, kInt64 = 7, kFloat16 = 10, kDouble = 11, kBfloat16 = 16;

bool is_real(std::int64_t type);

/// A constant: of its values only what shapes and attributes are made of is read, never weights.
struct Tensor {
  std::string name;
  std::int64_t type = 0;
  std::vector<std::int64_t> dims;
  std::optional<std::vector<std::int64_t>> integers;  ///< of a small integer tensor
  std::optional<double> real;                         ///< of a real one with one value
};

struct Attribute {
  std::string name;
  std::int64_t integer = 0;
  float real = 0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::optional<Tensor> tensor;
};

struct Node {
  std::string name;
  std::string op;
  std::string domain;               ///< empty for ONNX's own operators
  std::vector<std::string> inputs;  ///< an empty name is an input left out
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;

  const Attribute* find(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, const char* otherwise) const;
  /// An empty list where there is none.
  std::vector<std::int64_t> integers(std::string_view name) const;
  bool has_input(std::size_t index) const { return index < inputs.size() && !inputs[index].empty(); }
};

/// A value with its type; a dimension without a size may have a symbol.
struct ValueInfo {
  struct Dimension {
    std::optional<std::int64_t> size;
    std::string symbol;
  };
  std::string name;
  std::int64_t type = 0;
  std::optional<std::vector<Dimension>> shape;
};

/// What we read of a file. The limits on it: model.cpp.
struct Model {
  std::string name;
  std::int64_t opset = 0;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> values;  ///< what the file says of values in between
};

/// Reads a file's bytes. Throws Error{bad_input} where they are no ONNX model, or beyond a limit.
Model read_model(std::string_view bytes);

/// "operator 'Conv' (node 'conv1')", for messages.
std::string title_of(const Node& node);

/// 0.2f as 0.2: the number that was written, not its neighbour in binary.
double as_written(float value);

}  // namespace assay::network::onnx
