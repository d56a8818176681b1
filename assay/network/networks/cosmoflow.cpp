#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {

/// Four numbers of a universe from its matter in a cube. MLPerf HPC also multiplies the output by 1.2.
Graph cosmoflow(OptionReader& options) {
  const auto layers = options.integer("layers", 5, 1, 8);          // each halves the side and doubles the channels
  const auto channels = options.integer("channels", 32, 1, 1024);  // of the first layer
  const auto size = options.multiple("size", 128, std::int64_t{1} << layers, 512);
  const double dropout = options.probability("dropout", 0.5);
  options.finish();

  constexpr double slope = 0.3;
  Builder b("cosmoflow");
  auto x = b.volume(4, size);
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string name = fmt::format("conv{}", i + 1);
    x = b.leaky_relu(name + ".relu", b.convolution3d(name, x, channels << i, 2), slope);
    x = b.max_pool3d(name + ".pool", x, 2);
  }
  x = b.plain(Op::flatten, "flatten", {x});
  int number = 0;
  for (const std::int64_t features : {128, 64}) {
    const std::string name = fmt::format("fc{}", ++number);
    x = b.leaky_relu(name + ".relu", b.linear(name, x, features), slope);
    x = b.dropout(name + ".dropout", x, dropout);
  }
  return b.finish(b.plain(Op::tanh, "tanh", {b.linear("fc3", x, 4)}), Loss::mean_square);
}

}  // namespace assay::network::networks
