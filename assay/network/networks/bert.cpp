#include "assay/network/networks/bert.hpp"

#include "assay/network/builder.hpp"

namespace assay::network::networks {
namespace {

constexpr std::int64_t kHeadFeatures = 64;

/// Self-attention, then two linear layers; each with a shortcut and a norm after it.
std::string bert_layer(Builder& b, const std::string& prefix, const std::string& input, std::int64_t features,
                       double epsilon, double dropout) {
  const auto query = b.linear(prefix + "query", input, features);
  const auto key = b.linear(prefix + "key", input, features);
  const auto value = b.linear(prefix + "value", input, features);
  auto x = b.attention(prefix + "attention", {query, key, value}, features / kHeadFeatures, false, dropout);
  x = b.linear(prefix + "attention_output", x, features);
  x = b.dropout(prefix + "attention_dropout", x, dropout);
  x = b.plain(Op::add, prefix + "attention_add", {x, input});
  const auto attended = b.layer_norm(prefix + "attention_norm", x, epsilon);
  x = b.linear(prefix + "intermediate", attended, 4 * features);
  x = b.plain(Op::gelu, prefix + "gelu", {x});
  x = b.linear(prefix + "output", x, features);
  x = b.dropout(prefix + "dropout", x, dropout);
  x = b.plain(Op::add, prefix + "add", {x, attended});
  return b.layer_norm(prefix + "norm", x, epsilon);
}

}  // namespace

Graph bert(const Bert& about, OptionReader& options) {
  const auto sequence = options.integer("sequence", 128, 1, about.longest);
  const auto layers = options.integer("layers", about.layers, 1, 96);
  const double dropout = options.probability("dropout", 0.1);
  const auto features = options.multiple("features", about.features, kHeadFeatures, 16384);
  options.finish();

  Builder b(about.name);
  const auto tokens = b.tokens("tokens", sequence, about.tokens);
  const auto types = b.tokens("types", sequence, about.types);
  const auto words = b.embedding("embeddings.words", tokens, about.tokens, features);
  const auto segments = b.embedding("embeddings.types", types, about.types, features);
  auto x = b.plain(Op::add, "embeddings.add_types", {words, segments});
  const auto positions = b.position_embedding("embeddings.positions", tokens, about.positions, features);
  x = b.plain(Op::add, "embeddings.add_positions", {x, positions});
  x = b.layer_norm("embeddings.norm", x, about.epsilon);
  x = b.dropout("embeddings.dropout", x, dropout);
  for (std::int64_t i = 0; i < layers; ++i) {
    x = bert_layer(b, fmt::format("layer{}.", i), x, features, about.epsilon, dropout);
  }
  x = b.select("pooler.first", x, 0);
  x = b.linear("pooler", x, features);
  return b.finish(b.plain(Op::tanh, "pooler.tanh", {x}), Loss::mean_square);
}

}  // namespace assay::network::networks
