#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {
namespace {

constexpr double kDenseEpsilon = 1e-5;

/// Norm, activation, convolution: the other way round than in most networks, since many layers read one output.
std::string normed_before(Builder& b, const std::string& name, const std::string& input, std::int64_t channels,
                          const Window& window) {
  const auto x = b.plain(Op::relu, name + ".relu", {b.batch_norm(name + ".bn", input, kDenseEpsilon)});
  return b.convolution(name + ".conv", x, channels, window);
}

/// `growth` channels more, joined to all there are.
std::string dense_layer(Builder& b, const std::string& name, const std::string& input, std::int64_t growth) {
  const auto narrowed = normed_before(b, name + ".1", input, 4 * growth, square(1));
  const auto grown = normed_before(b, name + ".2", narrowed, growth, square(3, 1, 1));
  return b.concat(name + ".concat", {input, grown});
}

}  // namespace

Graph densenet121(OptionReader& options) {
  const auto image = options.integer("image", 224, 32, 4096);
  const auto growth = options.multiple("growth", 32, 2, 256);
  const auto classes = options.integer("classes", 1000, 1, 1'000'000);
  options.finish();

  constexpr std::array layers{6, 12, 24, 16};
  Builder b("densenet121");
  std::int64_t channels = 2 * growth;
  auto x = b.normed_convolution("stem", b.image(3, image), channels, square(7, 2, 3), kDenseEpsilon);
  x = b.max_pool("stem.pool", b.plain(Op::relu, "stem.relu", {x}), square(3, 2, 1));
  for (std::size_t block = 0; block < layers.size(); ++block) {
    for (int i = 1; i <= layers[block]; ++i) x = dense_layer(b, fmt::format("block{}.{}", block + 1, i), x, growth);
    channels += layers[block] * growth;
    if (block + 1 == layers.size()) break;
    channels /= 2;
    const std::string name = fmt::format("transition{}", block + 1);
    x = b.average_pool(name + ".pool", normed_before(b, name, x, channels, square(1)), square(2, 2));
  }
  x = b.plain(Op::relu, "head.relu", {b.batch_norm("head.bn", x, kDenseEpsilon)});
  x = b.plain(Op::global_average_pool, "pool", {x});
  return b.finish(b.linear("fc", x, classes));
}

}  // namespace assay::network::networks
