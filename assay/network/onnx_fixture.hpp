#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// ONNX files for tests, written byte by byte from the protobuf wire format and onnx.proto's numbers of fields.
namespace assay::network::onnx_bytes {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

inline std::string number(unsigned field, std::int64_t value) {
  return varint(field << 3) + varint(static_cast<std::uint64_t>(value));
}

inline std::string bytes(unsigned field, const std::string& value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}

inline std::string real(unsigned field, float value) {
  const auto* raw = reinterpret_cast<const char*>(&value);
  return varint(field << 3 | 5) + std::string(raw, raw + 4);
}

/// AttributeProto, as field 5 of a node.
inline std::string integer_attribute(const std::string& name, std::int64_t value) {
  return bytes(5, bytes(1, name) + number(3, value));
}
inline std::string real_attribute(const std::string& name, float value) {
  return bytes(5, bytes(1, name) + real(2, value));
}
inline std::string list_attribute(const std::string& name, const std::vector<std::int64_t>& values) {
  std::string packed;
  for (const auto value : values) packed += varint(static_cast<std::uint64_t>(value));
  return bytes(5, bytes(1, name) + bytes(8, packed));
}

/// NodeProto, as field 1 of a graph; its name is that of its output.
inline std::string node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                        const std::string& attributes = "") {
  std::string out;
  for (const auto& input : inputs) out += bytes(1, input);
  return bytes(1, out + bytes(2, output) + bytes(3, output) + bytes(4, op) + attributes);
}

/// TensorProto of reals without their values, as field 5 of a graph.
inline std::string weight(const std::string& name, const std::vector<std::int64_t>& dims) {
  std::string out;
  for (const auto size : dims) out += number(1, size);
  return bytes(5, out + number(2, 1) + bytes(8, name) + bytes(9, "skipped"));
}

/// TensorProto of integers, as field 5 of a graph.
inline std::string integers(const std::string& name, const std::vector<std::int64_t>& values) {
  std::string raw;
  for (const auto value : values) raw.append(reinterpret_cast<const char*>(&value), 8);
  return bytes(5, number(1, static_cast<std::int64_t>(values.size())) + number(2, 7) + bytes(8, name) + bytes(9, raw));
}

/// ValueInfoProto; a dimension of -1 is open. `field`: 11 for an input, 12 for an output, 13 for one in between.
inline std::string value(unsigned field, const std::string& name, const std::vector<std::int64_t>& dims,
                         std::int64_t type = 1) {
  std::string shape;
  for (const auto size : dims) shape += bytes(1, size < 0 ? bytes(2, "batch") : number(1, size));
  return bytes(field, bytes(1, name) + bytes(2, bytes(1, number(1, type) + bytes(2, shape))));
}

/// ModelProto with opset 20.
inline std::string model(const std::string& graph) {
  return number(1, 9) + bytes(7, bytes(2, "net") + graph) + bytes(8, number(2, 20));
}

}  // namespace assay::network::onnx_bytes
