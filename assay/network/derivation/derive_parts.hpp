#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/network/graph.hpp"

/// What derive() is made of: checks that name the node, and a function for each kind of operator.
namespace assay::network::derivation {

constexpr std::int64_t kMostOfOne = std::int64_t{1} << 31;  ///< of a dimension or an attribute

/// Throws Error{bad_input} that names the node.
[[noreturn]] void wrong(const Node& node, const std::string& what);

std::string text(const Shape& shape);

template <typename T>
const T& need(const Node& node, const std::optional<T>& value, const char* name) {
  if (!value) wrong(node, fmt::format("attribute '{}' is missing", name));
  return *value;
}

std::int64_t need_positive(const Node& node, const std::optional<std::int64_t>& value, const char* name);
void need_inputs(const Node& node, const std::vector<Shape>& inputs, std::size_t count);
void need_rank(const Node& node, const Shape& shape, std::size_t rank);

void derive_convolution(Node& node, const Shape& input);
void derive_transposed_convolution(Node& node, const Shape& input);
void derive_pool(Node& node, const Shape& input);
void derive_resize(Node& node, const Shape& input);

/// Throws where the first parameter of `shared` is not of that shape, or is not there.
void need_shared_weight(const Node& node, const Node* shared, const Shape& weight);

void derive_embedding(Node& node, const Shape& input, const Node* shared);
void derive_sinusoids(Node& node, const Shape& input);
void derive_to_sequence(Node& node, const Shape& input);
void derive_recurrent(Node& node, const Shape& input);
void derive_pairwise_dots(Node& node, const std::vector<Shape>& inputs);
void derive_rotary(Node& node, const Shape& input);
void derive_attention(Node& node, const std::vector<Shape>& inputs);
void derive_cross_attention(Node& node, const std::vector<Shape>& inputs);

}  // namespace assay::network::derivation
