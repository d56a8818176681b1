#pragma once

#include <cstdint>
#include <string>

#include "assay/core/text/json.hpp"

namespace assay::predict {

/// Multi-latent attention: queries, keys and values are made from short vectors. All zero where a model has none.
struct LatentAttention {
  std::int64_t query_rank = 0;  ///< 0: queries are made from the hidden values directly
  std::int64_t kv_rank = 0;     ///< of keys and values together; 0: no latent attention
  std::int64_t rope_dim = 0;    ///< values of a head that carry the position, shared by all heads' keys
  std::int64_t nope_dim = 0;    ///< values of a head that do not
  std::int64_t value_dim = 0;   ///< values of a head's output
};

template <typename V>
void describe(V& v, LatentAttention& a) {
  v("query_rank", a.query_rank);
  v("kv_rank", a.kv_rank);
  v("rope_dim", a.rope_dim);
  v("nope_dim", a.nope_dim);
  v("value_dim", a.value_dim);
}

/// A feed-forward layer of which each token uses a few parts. All zero where a model has none.
struct Experts {
  std::int64_t count = 0;               ///< routed experts of a layer
  std::int64_t per_token = 0;           ///< of which a token uses so many
  std::int64_t feedforward = 0;         ///< values inside one of them
  std::int64_t shared_feedforward = 0;  ///< values inside those that every token uses, together
  std::int64_t first_dense_layers = 0;  ///< layers before the first with experts
  std::int64_t latent = 0;              ///< values of a token as the routed experts see it; 0: hidden
  bool router_bias = false;             ///< a value beside each expert's router weights
};

template <typename V>
void describe(V& v, Experts& e) {
  v("count", e.count);
  v("per_token", e.per_token);
  v("feedforward", e.feedforward);
  v("shared_feedforward", e.shared_feedforward);
  v("first_dense_layers", e.first_dense_layers);
  v("latent", e.latent);
  v("router_bias", e.router_bias);
}

/// Layers with a state in place of attention (Mamba 2). All zero where a model has none.
struct StateLayers {
  std::int64_t count = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t state = 0;   ///< values of a head's state for each value
  std::int64_t groups = 0;  ///< that share the vectors to and from the state
  std::int64_t window = 4;  ///< of the convolution before it
};

template <typename V>
void describe(V& v, StateLayers& s) {
  v("count", s.count);
  v("heads", s.heads);
  v("head_dim", s.head_dim);
  v("state", s.state);
  v("groups", s.groups);
  v("window", s.window);
}

/// A transformer as its public configuration states it, without a batch or a machine.
struct ModelShape {
  std::string name;
  std::string source;         ///< where these numbers are published
  std::int64_t hidden = 0;    ///< values of a token between layers
  std::int64_t layers = 0;    ///< of a hybrid all of them, where each is of one kind alone
  std::int64_t heads = 0;     ///< of queries
  std::int64_t kv_heads = 0;  ///< of keys and values; equal to heads where they are not grouped
  std::int64_t head_dim = 0;
  std::int64_t feedforward = 0;  ///< values inside a dense feed-forward layer
  std::int64_t vocabulary = 0;
  bool gated = true;       ///< two products into the feed-forward layer, one of which scales the other
  bool tied = false;       ///< the output layer is the embedding
  bool causal = true;      ///< a token sees those before it alone
  bool norm_bias = false;  ///< norms add a value besides scaling
  bool qkv_bias = false;
  bool output_bias = false;  ///< of the attention's output
  bool feedforward_bias = false;
  bool qk_norm = false;               ///< a norm of each query and key, shared by heads
  bool sinks = false;                 ///< a value for each head in the softmax's sum
  std::int64_t positions = 0;         ///< learned positions; 0: none
  std::int64_t extra_parameters = 0;  ///< of layers that these fields do not name, such as BERT's pooler
  std::int64_t window = 0;            ///< tokens that a windowed layer sees; 0: no such layers
  std::int64_t windowed_layers = 0;
  std::int64_t hybrid_attention_layers = 0;  ///< of a hybrid; the others are layers with states and experts
  std::int64_t extra_predictions = 0;  ///< further tokens that are predicted in training, a layer and a head for each
  LatentAttention latent;
  Experts experts;
  StateLayers states;
};

template <typename V>
void describe(V& v, ModelShape& m) {
  v("name", m.name);
  v("source", m.source);
  required(v, "hidden", m.hidden);
  required(v, "layers", m.layers);
  required(v, "heads", m.heads);
  v("kv_heads", m.kv_heads);
  v("head_dim", m.head_dim);
  v("feedforward", m.feedforward);
  required(v, "vocabulary", m.vocabulary);
  v("gated", m.gated);
  v("tied", m.tied);
  v("causal", m.causal);
  v("norm_bias", m.norm_bias);
  v("qkv_bias", m.qkv_bias);
  v("output_bias", m.output_bias);
  v("feedforward_bias", m.feedforward_bias);
  v("qk_norm", m.qk_norm);
  v("sinks", m.sinks);
  v("positions", m.positions);
  v("extra_parameters", m.extra_parameters);
  v("window", m.window);
  v("windowed_layers", m.windowed_layers);
  v("hybrid_attention_layers", m.hybrid_attention_layers);
  v("extra_predictions", m.extra_predictions);
  v("latent", m.latent);
  v("experts", m.experts);
  v("states", m.states);
}

/// How many layers of each kind a model has. A plain layer has attention and a feed-forward part.
struct LayerCounts {
  std::int64_t attention = 0;
  std::int64_t dense = 0;    ///< dense feed-forward parts
  std::int64_t experts = 0;  ///< feed-forward parts of experts
  std::int64_t states = 0;
};

LayerCounts layer_counts(const ModelShape& shape);

/// Weights and biases of one attention part, of one dense feed-forward part, of one part with experts (all of them),
/// of one expert, and of one layer with a state; norms are not in them.
std::int64_t attention_parameters(const ModelShape& shape);
std::int64_t dense_parameters(const ModelShape& shape);
std::int64_t expert_layer_parameters(const ModelShape& shape);
std::int64_t expert_parameters(const ModelShape& shape);
std::int64_t state_parameters(const ModelShape& shape);

/// Of the whole model as it is published: without the layers of further predictions.
std::int64_t parameters_of(const ModelShape& shape);

/// Those that one token meets: of routed experts the few it uses. Embeddings are counted as in parameters_of().
std::int64_t active_parameters_of(const ModelShape& shape);

/// Throws Error{usage} that names the first number which is not above zero or does not divide, with the name.
void check(const ModelShape& shape);

}  // namespace assay::predict
