#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {
namespace {

constexpr std::int64_t kFeatures = 768;
constexpr std::int64_t kTokens = 50257;
constexpr double kEpsilon = 1e-5;

/// Norm, causal self-attention from one linear layer for queries, keys and values; norm, two linear layers.
std::string block(Builder& b, const std::string& prefix, const std::string& input, double dropout) {
  auto x = b.layer_norm(prefix + "norm1", input, kEpsilon);
  const auto all = b.linear(prefix + "query_key_value", x, 3 * kFeatures);
  const auto query = b.slice(prefix + "query", all, 0, kFeatures);
  const auto key = b.slice(prefix + "key", all, kFeatures, kFeatures);
  const auto value = b.slice(prefix + "value", all, 2 * kFeatures, kFeatures);
  x = b.attention(prefix + "attention", {query, key, value}, 12, true, dropout);
  x = b.linear(prefix + "attention_output", x, kFeatures);
  x = b.dropout(prefix + "attention_dropout", x, dropout);
  const auto attended = b.plain(Op::add, prefix + "attention_add", {x, input});
  x = b.layer_norm(prefix + "norm2", attended, kEpsilon);
  x = b.linear(prefix + "expand", x, 4 * kFeatures);
  x = b.plain(Op::gelu_tanh, prefix + "gelu", {x});
  x = b.linear(prefix + "project", x, kFeatures);
  x = b.dropout(prefix + "dropout", x, dropout);
  return b.plain(Op::add, prefix + "add", {x, attended});
}

}  // namespace

Graph gpt2(OptionReader& options) {
  const auto sequence = options.integer("sequence", 128, 1, 1024);
  const double dropout = options.probability("dropout", 0.1);
  options.finish();

  Builder b("gpt2");
  const auto tokens = b.tokens("tokens", sequence, kTokens);
  const auto words = b.embedding("words", tokens, kTokens, kFeatures);
  auto x = b.plain(Op::add, "add_positions", {words, b.position_embedding("positions", tokens, 1024, kFeatures)});
  x = b.dropout("dropout", x, dropout);
  for (int i = 0; i < 12; ++i) x = block(b, fmt::format("block{}.", i), x, dropout);
  x = b.layer_norm("norm", x, kEpsilon);
  return b.finish(b.linear_with_weight_of("head", x, words, kTokens));
}

}  // namespace assay::network::networks
