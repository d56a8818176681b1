#include <algorithm>

#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {
namespace {

/// How many values each of the 26 categories of Criteo's Kaggle data has.
constexpr std::array<std::int64_t, 26> kCriteoRows{
    1460, 583,    10'131'227, 2'202'608, 305,  24,   12'517, 633,       3,  93'145, 5683,    8'351'593, 3194,
    27,   14'992, 5'461'306,  10,        5652, 2173, 4,      7'046'547, 18, 15,     286'181, 105,       142'572};

std::string perceptron(Builder& b, const std::string& name, std::string x, const std::vector<std::int64_t>& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string layer = fmt::format("{}{}", name, i + 1);
    x = b.plain(Op::relu, layer + ".relu", {b.linear(layer, x, layers[i])});
  }
  return x;
}

}  // namespace

/// 13 numbers go through a perceptron, each of 26 categories chooses a row of its table; the dot products of each two
/// of all these and the numbers go through another one. The output is a logit.
Graph dlrm(OptionReader& options) {
  const auto rows = options.integer("rows", 40'000'000, 1, 40'000'000);  // of a table at most
  const auto features = options.integer("features", 16, 1, 4096);
  options.finish();

  Builder b("dlrm");
  const auto numbers = perceptron(b, "bottom", b.numbers("numbers", 13), {512, 256, 64, features});
  std::vector<std::string> vectors{numbers};
  for (std::size_t i = 0; i < kCriteoRows.size(); ++i) {
    const std::string name = fmt::format("category{}", i + 1);
    const auto size = std::min(rows, kCriteoRows[i]);
    const auto chosen = b.embedding(name + ".table", b.tokens(name, 1, size), size, features);
    vectors.push_back(b.select(name + ".row", chosen, 0));
  }
  auto x = b.plain(Op::pairwise_dots, "dots", vectors);
  x = perceptron(b, "top", b.concat("joined", {numbers, x}), {512, 256});
  return b.finish(b.linear("top3", x, 1), Loss::mean_square);
}

}  // namespace assay::network::networks
