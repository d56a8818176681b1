// Operators on tokens and sequences, [batch, positions, features].

#include <cmath>

#include "workers/libtorch/building.hpp"

namespace assay::libtorch {
namespace {

Call embedding(const GraphNode& node, Building& building) {
  const auto weight = building.weight(node);
  return [=](const Tensors& in) { return at::embedding(weight, in[0]); };
}

/// The first rows of a table, the same for each sample, whatever the input holds.
Call position_embedding(const GraphNode& node, Building& building) {
  const auto length = node.shape.at(0);
  const auto weight = building.parameter(node, "weight");
  return [=](const Tensors& in) { return weight.narrow(0, 0, length).unsqueeze(0).expand({in[0].size(0), -1, -1}); };
}

/// Scaled dot-product attention, split into heads. Each of `key_heads` serves some heads of the queries.
Call attention(const GraphNode& node, Building& building) {
  const auto heads = node.attribute<std::int64_t>("heads");
  const auto key_heads = node.attribute("key_heads", heads);
  const bool causal = node.attribute("causal", false);
  const double dropout = building.trains() ? node.attribute("dropout", 0.0) : 0.0;
  const auto split = [](const Tensor& x, std::int64_t of) { return x.unflatten(-1, {of, -1}).transpose(1, 2); };
  return [=](const Tensors& in) {
    const auto out = at::scaled_dot_product_attention(split(in[0], heads), split(in[1], key_heads),
                                                      split(in[2], key_heads), {}, dropout, causal, {},
                                                      /*enable_gqa=*/heads != key_heads);
    return out.transpose(1, 2).flatten(-2);
  };
}

/// Turns the two halves of each head by an angle of its position.
Call rotary(const GraphNode& node, Building& building) {
  const auto heads = node.attribute<std::int64_t>("heads");
  const auto positions = node.shape.at(0), size = node.shape.at(1) / heads, half = size / 2;
  const auto base = node.attribute<double>("base");
  std::vector<float> cosines, sines;
  for (std::int64_t position = 0; position < positions; ++position) {
    for (std::int64_t i = 0; i < half; ++i) {
      const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(size);
      const double angle = static_cast<double>(position) * std::pow(base, exponent);
      cosines.push_back(static_cast<float>(std::cos(angle)));
      sines.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  const Tensor cosine = building.table(cosines, {positions, 1, half}),
               sine = building.table(sines, {positions, 1, half});
  return [=](const Tensors& in) {
    const auto halves = in[0].unflatten(-1, {heads, -1}).chunk(2, -1);
    const Tensor &first = halves[0], &second = halves[1];
    return at::cat({first * cosine - second * sine, second * cosine + first * sine}, -1).flatten(-2);
  };
}

/// A fixed table, the same for each sample, whatever the input holds.
Call sinusoids(const GraphNode& node, Building& building) {
  const auto positions = node.shape.at(0), features = node.shape.at(1);
  std::vector<float> numbers;
  for (std::int64_t position = 0; position < positions; ++position) {
    for (std::int64_t i = 0; i < features; i += 2) {
      const double exponent = -static_cast<double>(i) / static_cast<double>(features);
      const double angle = static_cast<double>(position) * std::pow(10'000.0, exponent);
      numbers.push_back(static_cast<float>(std::sin(angle)));
      numbers.push_back(static_cast<float>(std::cos(angle)));
    }
  }
  const Tensor table = building.table(numbers, {1, positions, features});
  return [=](const Tensors& in) { return table.expand({in[0].size(0), -1, -1}); };
}

}  // namespace

Table sequence_operators() {
  return {
      {"embedding", embedding}, {"position_embedding", position_embedding},
      {"attention", attention}, {"cross_attention", attention},
      {"rotary", rotary},       {"sinusoids", sinusoids},
  };
}

}  // namespace assay::libtorch
