#include "assay/network/derivation/derive.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "assay/network/derivation/derive_parts.hpp"

namespace assay::network::derivation {

void wrong(const Node& node, const std::string& what) {
  fail(ErrorKind::bad_input, "node {} ({}): {}", shown(node.name), name_of(node.op), what);
}

std::string text(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::int64_t need_positive(const Node& node, const std::optional<std::int64_t>& value, const char* name) {
  const std::int64_t number = need(node, value, name);
  if (number < 1 || number >= kMostOfOne) wrong(node, fmt::format("attribute '{}' is {}, out of range", name, number));
  return number;
}

void need_inputs(const Node& node, const std::vector<Shape>& inputs, std::size_t count) {
  if (inputs.size() != count) wrong(node, fmt::format("it has {} inputs instead of {}", inputs.size(), count));
}

void need_rank(const Node& node, const Shape& shape, std::size_t rank) {
  if (shape.size() != rank) wrong(node, fmt::format("its input {} has not {} dimensions", text(shape), rank));
}

void need_shared_weight(const Node& node, const Node* shared, const Shape& weight) {
  if (shared != nullptr && !shared->parameters.empty() && shared->parameters[0].shape == weight) return;
  wrong(node, fmt::format("it cannot share the weight of {}: it needs one of {}", shown(*node.attributes.shared),
                          text(weight)));
}

namespace {

void derive_linear(Node& node, const Shape& input, const Node* shared) {
  const auto features = need_positive(node, node.attributes.features, "features");
  if (input.empty()) wrong(node, "its input has no dimension");
  node.shape = input;
  node.shape.back() = features;
  const Shape weight{features, input.back()};
  if (!node.attributes.shared) {
    node.parameters.push_back({"weight", weight});
  } else {
    need_shared_weight(node, shared, weight);
  }
  if (need(node, node.attributes.bias, "bias")) node.parameters.push_back({"bias", {features}});
}

void derive_norm(Node& node, const Shape& input) {
  if (!(need(node, node.attributes.epsilon, "epsilon") >= 0)) wrong(node, "attribute 'epsilon' is negative");
  if (input.empty()) wrong(node, "its input has no dimension");
  if (node.op == Op::batch_norm) need_rank(node, input, 3);
  const std::int64_t size = node.op == Op::batch_norm ? input.front() : input.back();
  node.shape = input;
  node.parameters = {{"weight", {size}}};
  if (node.op != Op::rms_norm) node.parameters.push_back({"bias", {size}});
}

void derive_concat(Node& node, const std::vector<Shape>& inputs) {
  if (inputs.empty() || inputs[0].empty()) wrong(node, "it has nothing to join");
  node.shape = inputs[0];
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i].size() != inputs[0].size() ||
        !std::equal(inputs[i].begin() + 1, inputs[i].end(), inputs[0].begin() + 1)) {
      wrong(node, fmt::format("it cannot join {} and {}", text(inputs[0]), text(inputs[i])));
    }
    node.shape[0] += inputs[i][0];
  }
}

void derive_pairwise(Node& node, const std::vector<Shape>& inputs) {
  need_inputs(node, inputs, 2);
  const Shape& a = inputs[0];
  const Shape& b = inputs[1];
  bool fits = b.size() <= a.size();
  for (std::size_t i = 0; fits && i < b.size(); ++i) {
    const std::int64_t size = b[b.size() - 1 - i];
    fits = size == 1 || size == a[a.size() - 1 - i];
  }
  if (!fits) wrong(node, fmt::format("{} does not fit {}", text(b), text(a)));
  node.shape = a;
}

void derive_part(Node& node, const Shape& input) {
  if (node.op == Op::select) {
    need_rank(node, input, 2);
    const auto index = need(node, node.attributes.index, "index");
    if (index < 0 || index >= input[0]) wrong(node, fmt::format("position {} is outside {}", index, text(input)));
    node.shape = {input[1]};
    return;
  }
  if (input.empty()) wrong(node, "its input has no dimension");
  const auto begin = need(node, node.attributes.begin, "begin");
  const auto length = need_positive(node, node.attributes.length, "length");
  if (begin < 0 || begin > input.back() - length) {
    wrong(node, fmt::format("{} values from {} on are outside {}", length, begin, text(input)));
  }
  node.shape = input;
  node.shape.back() = length;
}

void derive_unary(Node& node, const Shape& input, const Node* shared) {
  switch (node.op) {
    case Op::convolution:
    case Op::dilated_convolution:
    case Op::convolution3d:
      return derive_convolution(node, input);
    case Op::linear:
      return derive_linear(node, input, shared);
    case Op::batch_norm:
    case Op::layer_norm:
    case Op::rms_norm:
      return derive_norm(node, input);
    case Op::l2_norm:
      need_rank(node, input, 3);
      node.shape = input;
      node.parameters = {{"weight", {input[0]}}};
      return;
    case Op::embedding:
    case Op::position_embedding:
      return derive_embedding(node, input, shared);
    case Op::transposed_convolution:
      return derive_transposed_convolution(node, input);
    case Op::resize:
      return derive_resize(node, input);
    case Op::lstm:
    case Op::gru:
      return derive_recurrent(node, input);
    case Op::rotary:
      return derive_rotary(node, input);
    case Op::sinusoids:
      return derive_sinusoids(node, input);
    case Op::to_sequence:
      return derive_to_sequence(node, input);
    case Op::select:
    case Op::slice:
      return derive_part(node, input);
    case Op::max_pool:
    case Op::max_pool3d:
    case Op::average_pool:
      return derive_pool(node, input);
    case Op::global_average_pool:
      need_rank(node, input, 3);
      node.shape = {input[0]};
      return;
    case Op::flatten:
      node.shape = {elements(input)};
      return;
    case Op::local_response_norm:
      need_rank(node, input, 3);
      need_positive(node, node.attributes.size, "size");
      need(node, node.attributes.alpha, "alpha");
      need(node, node.attributes.beta, "beta");
      need(node, node.attributes.k, "k");
      break;
    case Op::leaky_relu:
      need(node, node.attributes.alpha, "alpha");
      break;
    case Op::dropout: {
      const double probability = need(node, node.attributes.probability, "probability");
      if (!(probability >= 0 && probability < 1)) wrong(node, "attribute 'probability' is not in [0, 1)");
      break;
    }
    default:
      break;  // an activation: nothing but its input
  }
  node.shape = input;
}

}  // namespace
}  // namespace assay::network::derivation

namespace assay::network {

void derive(Node& node, const std::vector<Shape>& inputs, const Node* shared) {
  using namespace derivation;
  node.shape.clear();
  node.parameters.clear();
  switch (node.op) {
    case Op::concat:
      derive_concat(node, inputs);
      break;
    case Op::add:
    case Op::multiply:
      derive_pairwise(node, inputs);
      break;
    case Op::attention:
      derive_attention(node, inputs);
      break;
    case Op::cross_attention:
      derive_cross_attention(node, inputs);
      break;
    case Op::pairwise_dots:
      derive_pairwise_dots(node, inputs);
      break;
    default:
      need_inputs(node, inputs, 1);
      derive_unary(node, inputs[0], shared);
  }
  elements(node.shape);  // throws where the output is beyond all bounds
  for (const auto& parameter : node.parameters) elements(parameter.shape);
}

}  // namespace assay::network
