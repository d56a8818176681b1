#include <algorithm>

#include "assay/network/onnx/shapes.hpp"

namespace assay::network::onnx {
namespace {

using Inputs = std::vector<const Value*>;
using Integers = std::optional<std::vector<std::int64_t>>;

constexpr std::size_t kMost = 4096;

Integers of_constant(const Node& node) {
  if (const auto* value = node.find("value"); value != nullptr && value->tensor) return value->tensor->integers;
  if (const auto* list = node.find("value_ints")) return list->integers;
  if (const auto* one = node.find("value_int")) return Integers{{one->integer}};
  return {};
}

Integers of_shape(const Node& node, const Shape& shape) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto bound = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? std::max(at, -rank) + rank : at, 0, rank);
  };
  const auto begin = bound(node.integer("start", 0));
  const auto end = std::max(begin, bound(node.integer("end", rank)));
  return Integers(Shape(shape.begin() + begin, shape.begin() + end));
}

/// Numbers of a vector, or one of it.
Integers gathered(const Node& node, const std::vector<std::int64_t>& from, const Value& indices) {
  if (!indices.integers || node.integer("axis", 0) != 0) return {};
  std::vector<std::int64_t> out;
  for (auto at : *indices.integers) {
    if (at < 0) at += static_cast<std::int64_t>(from.size());
    if (at < 0 || at >= static_cast<std::int64_t>(from.size())) return {};
    out.push_back(from[static_cast<std::size_t>(at)]);
  }
  return out;
}

Integers joined(const Inputs& in) {
  std::vector<std::int64_t> out;
  for (const auto* value : in) {
    if (value == nullptr || !value->integers) return {};
    out.insert(out.end(), value->integers->begin(), value->integers->end());
    if (out.size() > kMost) return {};
  }
  return out;
}

Integers sliced(const std::vector<std::int64_t>& from, const Inputs& in) {
  const auto one = [&](std::size_t i, std::int64_t otherwise) -> std::optional<std::int64_t> {
    if (i >= in.size() || in[i] == nullptr) return otherwise;
    if (!in[i]->integers || in[i]->integers->size() != 1) return {};
    return in[i]->integers->front();
  };
  const auto size = static_cast<std::int64_t>(from.size());
  const auto begin = one(1, 0), end = one(2, size), step = one(4, 1);
  if (!begin || !end || !step || *step != 1) return {};
  const auto bound = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
  const auto first = bound(*begin);
  return Integers(Shape(from.begin() + first, from.begin() + std::max(first, bound(*end))));
}

std::optional<std::int64_t> computed(const std::string& op, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (op == "Add") return __builtin_add_overflow(a, b, &out) ? std::optional<std::int64_t>{} : out;
  if (op == "Sub") return __builtin_sub_overflow(a, b, &out) ? std::optional<std::int64_t>{} : out;
  if (op == "Mul") return __builtin_mul_overflow(a, b, &out) ? std::optional<std::int64_t>{} : out;
  if (b <= 0 || a < 0) return {};  // quotients of sizes; of others signs are not clear
  return a / b;
}

Integers arithmetic(const std::string& op, const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  if (a.empty() || b.empty() || (a.size() != b.size() && a.size() != 1 && b.size() != 1)) return {};
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const auto number = computed(op, a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
    if (!number) return {};
    out.push_back(*number);
  }
  return out;
}

}  // namespace

Integers output_integers(const Node& node, const Inputs& in) {
  const auto& op = node.op;
  if (op == "Constant") return of_constant(node);
  if (in.empty() || in[0] == nullptr) return {};
  if (op == "Shape") return of_shape(node, *in[0]->shape);
  if (!in[0]->integers || in[0]->shape->size() > 1) return {};
  const auto& first = *in[0]->integers;
  if (op == "Identity" || op == "Cast" || op == "Squeeze" || op == "Unsqueeze" || op == "Reshape") return first;
  if (op == "Concat") return joined(in);
  if (op == "Gather" && in.size() > 1 && in[1] != nullptr) return gathered(node, first, *in[1]);
  if (op == "Slice" && in.size() > 2) return sliced(first, in);
  const bool pair = op == "Add" || op == "Sub" || op == "Mul" || op == "Div";
  if (pair && in.size() == 2 && in[1] != nullptr && in[1]->integers) return arithmetic(op, first, *in[1]->integers);
  return {};
}

}  // namespace assay::network::onnx
