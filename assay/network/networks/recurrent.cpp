#include "assay/network/networks/recurrent.hpp"

#include "assay/network/builder.hpp"

namespace assay::network::networks {

Graph recurrent_language_model(const std::string& name, Op cell, OptionReader& options) {
  const auto sequence = options.integer("sequence", 35, 1, 4096);
  const auto layers = options.integer("layers", 2, 1, 64);
  const auto features = options.integer("features", 650, 1, 16384);
  const auto vocabulary = options.integer("tokens", 10'000, 1, 10'000'000);
  const double dropout = options.probability("dropout", 0.5);
  options.finish();

  Builder b(name);
  auto x = b.embedding("words", b.tokens("tokens", sequence, vocabulary), vocabulary, features);
  x = b.dropout("dropout", x, dropout);
  for (std::int64_t i = 0; i < layers; ++i) {
    x = b.recurrent(cell, fmt::format("layer{}", i), x, features);
    x = b.dropout(fmt::format("dropout{}", i), x, dropout);
  }
  return b.finish(b.linear("head", x, vocabulary));
}

}  // namespace assay::network::networks
