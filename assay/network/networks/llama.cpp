#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {
namespace {

constexpr double kLlamaEpsilon = 1e-5;
constexpr double kAngleBase = 10'000;

struct Llama {
  std::int64_t heads;
  std::int64_t key_heads;
  std::int64_t features;
  std::int64_t hidden;
};

/// Causal self-attention whose queries and keys are turned by their positions.
std::string llama_attention(Builder& b, const std::string& prefix, const std::string& input, const Llama& sizes) {
  const std::int64_t key_features = sizes.features / sizes.heads * sizes.key_heads;
  auto query = b.linear(prefix + "query", input, sizes.features, false);
  query = b.rotary(prefix + "query.rotary", query, sizes.heads, kAngleBase);
  auto key = b.linear(prefix + "key", input, key_features, false);
  key = b.rotary(prefix + "key.rotary", key, sizes.key_heads, kAngleBase);
  const auto value = b.linear(prefix + "value", input, key_features, false);
  const std::string name = prefix + "attention";
  const auto mixed = sizes.key_heads == sizes.heads
                         ? b.attention(name, {query, key, value}, sizes.heads, true, 0)
                         : b.cross_attention(name, {query, key, value}, sizes.heads, sizes.key_heads, true, 0);
  return b.linear(prefix + "attention_output", mixed, sizes.features, false);
}

/// Norm and attention, norm and a gated perceptron; each with a shortcut around it.
std::string llama_layer(Builder& b, const std::string& prefix, const std::string& input, const Llama& sizes) {
  auto x = llama_attention(b, prefix, b.rms_norm(prefix + "norm1", input, kLlamaEpsilon), sizes);
  const auto attended = b.plain(Op::add, prefix + "attention_add", {x, input});
  const auto normal = b.rms_norm(prefix + "norm2", attended, kLlamaEpsilon);
  const auto gate = b.plain(Op::silu, prefix + "silu", {b.linear(prefix + "gate", normal, sizes.hidden, false)});
  const auto up = b.linear(prefix + "up", normal, sizes.hidden, false);
  x = b.plain(Op::multiply, prefix + "gated", {gate, up});
  x = b.linear(prefix + "down", x, sizes.features, false);
  return b.plain(Op::add, prefix + "add", {x, attended});
}

}  // namespace

/// The whole sequence at once, as in training and in reading a prompt; no cache of keys and values.
Graph llama(OptionReader& options) {
  const auto sequence = options.integer("sequence", 128, 1, 131'072);
  const auto layers = options.integer("layers", 22, 1, 512);
  const auto heads = options.integer("heads", 32, 1, 512);
  const auto key_heads = options.divisor("key_heads", 4, "heads", heads);
  const auto features = options.multiple("features", 2048, 2 * heads, 65'536);
  const auto hidden = options.integer("hidden", 5632, 1, 262'144);
  const auto vocabulary = options.integer("tokens", 32'000, 1, 10'000'000);
  options.finish();

  Builder b("llama");
  auto x = b.embedding("words", b.tokens("tokens", sequence, vocabulary), vocabulary, features);
  const Llama sizes{heads, key_heads, features, hidden};
  for (std::int64_t i = 0; i < layers; ++i) x = llama_layer(b, fmt::format("layer{}.", i), x, sizes);
  x = b.rms_norm("norm", x, kLlamaEpsilon);
  return b.finish(b.linear("head", x, vocabulary, false));
}

}  // namespace assay::network::networks
