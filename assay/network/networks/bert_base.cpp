#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {
namespace {

constexpr std::int64_t kFeatures = 768;
constexpr double kEpsilon = 1e-12;

/// Self-attention, then two linear layers; each with a shortcut and a norm behind it.
std::string encoder_layer(Builder& b, const std::string& prefix, const std::string& input, double dropout) {
  const auto query = b.linear(prefix + "query", input, kFeatures);
  const auto key = b.linear(prefix + "key", input, kFeatures);
  const auto value = b.linear(prefix + "value", input, kFeatures);
  auto x = b.attention(prefix + "attention", {query, key, value}, 12, false, dropout);
  x = b.linear(prefix + "attention_output", x, kFeatures);
  x = b.dropout(prefix + "attention_dropout", x, dropout);
  x = b.plain(Op::add, prefix + "attention_add", {x, input});
  const auto attended = b.layer_norm(prefix + "attention_norm", x, kEpsilon);
  x = b.linear(prefix + "intermediate", attended, 4 * kFeatures);
  x = b.plain(Op::gelu, prefix + "gelu", {x});
  x = b.linear(prefix + "output", x, kFeatures);
  x = b.dropout(prefix + "dropout", x, dropout);
  x = b.plain(Op::add, prefix + "add", {x, attended});
  return b.layer_norm(prefix + "norm", x, kEpsilon);
}

}  // namespace

Graph bert_base(OptionReader& options) {
  const auto sequence = options.integer("sequence", 128, 1, 512);
  const auto layers = options.integer("layers", 12, 1, 96);
  const double dropout = options.probability("dropout", 0.1);
  options.finish();

  Builder b("bert_base");
  const auto tokens = b.tokens("tokens", sequence, 30522);
  const auto types = b.tokens("types", sequence, 2);
  auto x = b.plain(Op::add, "embeddings.add_types",
                   {b.embedding("embeddings.words", tokens, 30522, kFeatures),
                    b.embedding("embeddings.types", types, 2, kFeatures)});
  x = b.plain(Op::add, "embeddings.add_positions",
              {x, b.position_embedding("embeddings.positions", tokens, 512, kFeatures)});
  x = b.layer_norm("embeddings.norm", x, kEpsilon);
  x = b.dropout("embeddings.dropout", x, dropout);
  for (std::int64_t i = 0; i < layers; ++i) x = encoder_layer(b, fmt::format("layer{}.", i), x, dropout);
  x = b.select("pooler.first", x, 0);
  x = b.linear("pooler", x, kFeatures);
  return b.finish(b.plain(Op::tanh, "pooler.tanh", {x}), Loss::mean_square);
}

}  // namespace assay::network::networks
