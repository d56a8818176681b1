#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {
namespace {

constexpr double kTransformerEpsilon = 1e-5;

struct Transformer {
  std::int64_t heads;
  std::int64_t features;
  std::int64_t hidden;
  double dropout;
};

/// What a part of a layer computed: with dropout, a shortcut around it, and a norm behind.
std::string closed(Builder& b, const std::string& name, const std::string& x, const std::string& input,
                   double dropout) {
  const auto sum = b.plain(Op::add, name + ".add", {b.dropout(name + ".dropout", x, dropout), input});
  return b.layer_norm(name + ".norm", sum, kTransformerEpsilon);
}

/// Attention of `input` to `memory`, which may be itself.
std::string attending(Builder& b, const std::string& name, const std::string& input, const std::string& memory,
                      bool causal, const Transformer& sizes) {
  const auto query = b.linear(name + ".query", input, sizes.features);
  const auto key = b.linear(name + ".key", memory, sizes.features);
  const auto value = b.linear(name + ".value", memory, sizes.features);
  const std::string mix = name + ".mix";
  const auto mixed = input == memory
                         ? b.attention(mix, {query, key, value}, sizes.heads, causal, sizes.dropout)
                         : b.cross_attention(mix, {query, key, value}, sizes.heads, sizes.heads, causal, sizes.dropout);
  return closed(b, name, b.linear(name + ".output", mixed, sizes.features), input, sizes.dropout);
}

std::string feeding(Builder& b, const std::string& name, const std::string& input, const Transformer& sizes) {
  auto x = b.plain(Op::relu, name + ".relu", {b.linear(name + ".expand", input, sizes.hidden)});
  x = b.dropout(name + ".inner_dropout", x, sizes.dropout);
  return closed(b, name, b.linear(name + ".project", x, sizes.features), input, sizes.dropout);
}

}  // namespace

/// Encoder and decoder with norms behind, as in 2017. One table serves source, target and output.
Graph transformer(OptionReader& options) {
  const auto sequence = options.integer("sequence", 128, 1, 16'384);  // of source and target each
  const auto layers = options.integer("layers", 6, 1, 96);            // of encoder and decoder each
  const auto heads = options.integer("heads", 8, 1, 512);
  const auto features = options.multiple("features", 512, 2 * heads, 65'536);
  const auto hidden = options.integer("hidden", 2048, 1, 262'144);
  const auto vocabulary = options.integer("tokens", 37'000, 1, 10'000'000);
  const double dropout = options.probability("dropout", 0.1);
  options.finish();

  const Transformer sizes{heads, features, hidden, dropout};
  Builder b("transformer");
  const auto source = b.tokens("source_tokens", sequence, vocabulary);
  const auto target = b.tokens("target_tokens", sequence, vocabulary);
  const auto placed = [&](const std::string& name, const std::string& words) {
    const auto x = b.plain(Op::add, name + ".add", {words, b.sinusoids(name + ".positions", words, features)});
    return b.dropout(name + ".dropout", x, dropout);
  };
  const auto words = b.embedding("words", source, vocabulary, features);
  auto memory = placed("encoder", words);
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string prefix = fmt::format("encoder{}", i);
    memory = attending(b, prefix + ".self", memory, memory, false, sizes);
    memory = feeding(b, prefix + ".feed", memory, sizes);
  }
  auto x = placed("decoder", b.embedding_with_table_of("target_words", target, words, vocabulary, features));
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string prefix = fmt::format("decoder{}", i);
    x = attending(b, prefix + ".self", x, x, true, sizes);
    x = attending(b, prefix + ".cross", x, memory, false, sizes);
    x = feeding(b, prefix + ".feed", x, sizes);
  }
  return b.finish(b.linear_with_weight_of("head", x, words, vocabulary));
}

}  // namespace assay::network::networks
