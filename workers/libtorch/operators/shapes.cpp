// Operators that join, cut and turn values.

#include "workers/libtorch/building.hpp"

namespace assay::libtorch {
namespace {

/// A second input with fewer dimensions lines up with the last ones; the batch stays in front.
Tensor aligned(const Tensor& to, const Tensor& x) {
  if (x.dim() >= to.dim()) return x;
  Sizes shape(static_cast<std::size_t>(to.dim()), 1);
  shape[0] = x.size(0);
  for (std::int64_t i = 1; i < x.dim(); ++i) shape[static_cast<std::size_t>(to.dim() - x.dim() + i)] = x.size(i);
  return x.reshape(shape);
}

Call add(const GraphNode&, Building&) {
  return [](const Tensors& in) { return at::add(in[0], aligned(in[0], in[1])); };
}

Call multiply(const GraphNode&, Building&) {
  return [](const Tensors& in) { return at::mul(in[0], aligned(in[0], in[1])); };
}

Call concat(const GraphNode&, Building&) {
  return [](const Tensors& in) { return at::cat(in, 1); };
}

Call flatten(const GraphNode&, Building&) {
  return [](const Tensors& in) { return at::flatten(in[0], 1); };
}

Call select(const GraphNode& node, Building&) {
  const auto index = node.attribute<std::int64_t>("index");
  return [=](const Tensors& in) { return at::select(in[0], 1, index); };
}

Call slice(const GraphNode& node, Building&) {
  const auto begin = node.attribute<std::int64_t>("begin"), length = node.attribute<std::int64_t>("length");
  return [=](const Tensors& in) { return at::narrow(in[0], -1, begin, length); };
}

Call to_sequence(const GraphNode&, Building&) {
  return [](const Tensors& in) { return in[0].flatten(2).transpose(1, 2); };
}

/// Dot products of each two of some vectors: what lies below the diagonal of their products, row by row.
Call pairwise_dots(const GraphNode& node, Building&) {
  const auto count = static_cast<std::int64_t>(node.inputs.size());
  const Tensor pairs = at::tril_indices(count, count, -1);
  const Tensor places = pairs[0] * count + pairs[1];
  return [=](const Tensors& in) {
    const Tensor together = at::stack(in, 1);
    return at::bmm(together, together.transpose(1, 2)).flatten(1).index_select(1, places);
  };
}

}  // namespace

Table shape_operators() {
  return {
      {"add", add},       {"multiply", multiply}, {"concat", concat},           {"flatten", flatten},
      {"select", select}, {"slice", slice},       {"to_sequence", to_sequence}, {"pairwise_dots", pairwise_dots},
  };
}

}  // namespace assay::libtorch
