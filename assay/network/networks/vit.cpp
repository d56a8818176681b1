#include "assay/network/networks/vit.hpp"

#include "assay/network/builder.hpp"

namespace assay::network::networks {
namespace {

constexpr double kVitEpsilon = 1e-6;
constexpr std::int64_t kVitHead = 64;

/// Norm and self-attention, norm and two linear layers; each with a shortcut around it.
std::string vit_layer(Builder& b, const std::string& prefix, const std::string& input, std::int64_t features,
                      double dropout) {
  auto x = b.layer_norm(prefix + "norm1", input, kVitEpsilon);
  const auto all = b.linear(prefix + "query_key_value", x, 3 * features);
  const auto query = b.slice(prefix + "query", all, 0, features);
  const auto key = b.slice(prefix + "key", all, features, features);
  const auto value = b.slice(prefix + "value", all, 2 * features, features);
  x = b.attention(prefix + "attention", {query, key, value}, features / kVitHead, false, dropout);
  x = b.linear(prefix + "attention_output", x, features);
  x = b.dropout(prefix + "attention_dropout", x, dropout);
  const auto attended = b.plain(Op::add, prefix + "attention_add", {x, input});
  x = b.layer_norm(prefix + "norm2", attended, kVitEpsilon);
  x = b.plain(Op::gelu, prefix + "gelu", {b.linear(prefix + "expand", x, 4 * features)});
  x = b.linear(prefix + "project", x, features);
  x = b.dropout(prefix + "dropout", x, dropout);
  return b.plain(Op::add, prefix + "add", {x, attended});
}

}  // namespace

Graph vit(const std::string& name, std::int64_t standard_features, OptionReader& options) {
  const auto patch = options.integer("patch", 16, 1, 256);
  const auto image = options.multiple("image", 224, patch, 4096);
  const auto layers = options.integer("layers", 12, 1, 96);
  const auto features = options.multiple("features", standard_features, kVitHead, 16384);
  const auto classes = options.integer("classes", 1000, 1, 1'000'000);
  const double dropout = options.probability("dropout", 0);
  options.finish();

  Builder b(name);
  const Window window = square(patch, patch);
  auto x = b.convolution("patches", b.image(3, image), features, window, 1, true);
  x = b.plain(Op::to_sequence, "patches.sequence", {x});
  x = b.concat("tokens", {b.learned_tokens("class_token", x, 1, features), x});
  const std::int64_t positions = (image / patch) * (image / patch) + 1;
  x = b.plain(Op::add, "positions.add", {x, b.position_embedding("positions", x, positions, features)});
  x = b.dropout("positions.dropout", x, dropout);
  for (std::int64_t i = 0; i < layers; ++i) x = vit_layer(b, fmt::format("layer{}.", i), x, features, dropout);
  x = b.select("class", b.layer_norm("norm", x, kVitEpsilon), 0);
  return b.finish(b.linear("head", x, classes));
}

}  // namespace assay::network::networks
