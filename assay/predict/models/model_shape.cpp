#include "assay/predict/models/model_shape.hpp"

namespace assay::predict {
namespace {

constexpr std::int64_t kMostValue = 1'000'000'000;

void check_size(const ModelShape& shape, std::int64_t value, const char* what) {
  if (value >= 1 && value <= kMostValue) return;
  fail(ErrorKind::usage, "{}: {} is {}; give a number from 1 to 1,000,000,000.",
       shape.name.empty() ? "the model" : shape.name, what, value);
}

std::int64_t when(bool is_so, std::int64_t value) {
  return is_so ? value : 0;
}

/// Into and out of a feed-forward part of so many values inside.
std::int64_t feedforward_weights(const ModelShape& shape, std::int64_t hidden, std::int64_t inside) {
  return (shape.gated ? 3 : 2) * hidden * inside +
         when(shape.feedforward_bias, (shape.gated ? 2 : 1) * inside + hidden);
}

std::int64_t latent_attention_parameters(const ModelShape& shape) {
  const auto& a = shape.latent;
  const auto head = a.nope_dim + a.rope_dim;
  const auto queries = a.query_rank > 0 ? shape.hidden * a.query_rank + a.query_rank + a.query_rank * shape.heads * head
                                        : shape.hidden * shape.heads * head;
  const auto keys = shape.hidden * (a.kv_rank + a.rope_dim) + a.kv_rank;
  const auto spread = a.kv_rank * shape.heads * (a.nope_dim + a.value_dim);
  return queries + keys + spread + shape.heads * a.value_dim * shape.hidden;
}

std::int64_t outside_layers(const ModelShape& shape) {
  const auto embeddings = (shape.tied ? 1 : 2) * shape.vocabulary * shape.hidden + shape.positions * shape.hidden;
  return embeddings + shape.extra_parameters;
}

std::int64_t norm_parameters(const ModelShape& shape) {
  const auto counts = layer_counts(shape);
  const auto parts = counts.attention + counts.dense + counts.experts + counts.states;
  return (parts + 1) * shape.hidden * (shape.norm_bias ? 2 : 1);
}

}  // namespace

LayerCounts layer_counts(const ModelShape& shape) {
  LayerCounts counts;
  if (shape.states.count > 0) {
    counts.states = shape.states.count;
    counts.attention = shape.hybrid_attention_layers;
    const auto rest = shape.layers - counts.states - counts.attention;
    (shape.experts.count > 0 ? counts.experts : counts.dense) = rest;
    return counts;
  }
  counts.attention = shape.layers;
  counts.experts = shape.experts.count > 0 ? shape.layers - shape.experts.first_dense_layers : 0;
  counts.dense = shape.layers - counts.experts;
  return counts;
}

std::int64_t attention_parameters(const ModelShape& shape) {
  if (shape.latent.kv_rank > 0) return latent_attention_parameters(shape);
  const auto width = (shape.heads + 2 * shape.kv_heads) * shape.head_dim;
  return shape.hidden * width + when(shape.qkv_bias, width) + shape.heads * shape.head_dim * shape.hidden +
         when(shape.output_bias, shape.hidden) + when(shape.qk_norm, 2 * shape.head_dim) +
         when(shape.sinks, shape.heads);
}

std::int64_t dense_parameters(const ModelShape& shape) {
  return feedforward_weights(shape, shape.hidden, shape.feedforward);
}

std::int64_t expert_parameters(const ModelShape& shape) {
  const auto seen = shape.experts.latent > 0 ? shape.experts.latent : shape.hidden;
  return feedforward_weights(shape, seen, shape.experts.feedforward);
}

std::int64_t expert_layer_parameters(const ModelShape& shape) {
  const auto& e = shape.experts;
  return e.count * expert_parameters(shape) + e.count * shape.hidden + when(e.router_bias, e.count) +
         (e.shared_feedforward > 0 ? feedforward_weights(shape, shape.hidden, e.shared_feedforward) : 0) +
         2 * shape.hidden * e.latent;
}

std::int64_t state_parameters(const ModelShape& shape) {
  const auto& s = shape.states;
  const auto inner = s.heads * s.head_dim;
  const auto mixed = inner + 2 * s.groups * s.state;
  // Into the layer: the gate, what is mixed, a step for each head. Then the convolution with its bias, three values for
  // each head, a norm, and out of it.
  return shape.hidden * (inner + mixed + s.heads) + mixed * (s.window + 1) + 3 * s.heads + inner + inner * shape.hidden;
}

std::int64_t parameters_of(const ModelShape& shape) {
  const auto counts = layer_counts(shape);
  return counts.attention * attention_parameters(shape) + counts.dense * dense_parameters(shape) +
         (counts.experts > 0 ? counts.experts * expert_layer_parameters(shape) : 0) +
         (counts.states > 0 ? counts.states * state_parameters(shape) : 0) + norm_parameters(shape) +
         outside_layers(shape);
}

std::int64_t active_parameters_of(const ModelShape& shape) {
  const auto counts = layer_counts(shape);
  if (counts.experts == 0) return parameters_of(shape);
  return parameters_of(shape) -
         counts.experts * (shape.experts.count - shape.experts.per_token) * expert_parameters(shape);
}

void check(const ModelShape& shape) {
  check_size(shape, shape.hidden, "hidden");
  check_size(shape, shape.layers, "layers");
  check_size(shape, shape.heads, "heads");
  check_size(shape, shape.kv_heads, "kv_heads");
  check_size(shape, shape.vocabulary, "vocabulary");
  if (shape.latent.kv_rank == 0) check_size(shape, shape.head_dim, "head_dim");
  const auto counts = layer_counts(shape);
  if (counts.dense > 0) check_size(shape, shape.feedforward, "feedforward");
  const auto& name = shape.name.empty() ? std::string("the model") : shape.name;
  if (shape.heads % shape.kv_heads != 0) {
    fail(ErrorKind::usage, "{}: {} heads cannot share {} heads of keys and values evenly.", name, shape.heads,
         shape.kv_heads);
  }
  if (counts.experts > 0) {
    check_size(shape, shape.experts.per_token, "experts per token");
    check_size(shape, shape.experts.feedforward, "feedforward of an expert");
  }
  if (counts.attention < 0 || counts.dense < 0 || counts.experts < 0 || shape.experts.per_token > shape.experts.count) {
    fail(ErrorKind::usage, "{}: its layers or experts do not add up: {} layers, {} experts of which a token uses {}.",
         name, shape.layers, shape.experts.count, shape.experts.per_token);
  }
}

}  // namespace assay::predict
