#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {

Graph alexnet(OptionReader& options) {
  const auto classes = options.integer("classes", 1000, 1, 1'000'000);
  const double dropout = options.probability("dropout", 0.5);
  options.finish();

  Builder b("alexnet");
  auto x = b.image(3, 224);
  const auto convolution = [&](int number, std::int64_t channels, const Window& window) {
    x = b.convolution(fmt::format("conv{}", number), x, channels, window, 1, true);
    x = b.plain(Op::relu, fmt::format("relu{}", number), {x});
  };
  convolution(1, 64, square(11, 4, 2));
  x = b.max_pool("pool1", x, square(3, 2));
  convolution(2, 192, square(5, 1, 2));
  x = b.max_pool("pool2", x, square(3, 2));
  convolution(3, 384, square(3, 1, 1));
  convolution(4, 256, square(3, 1, 1));
  convolution(5, 256, square(3, 1, 1));
  x = b.max_pool("pool5", x, square(3, 2));
  x = b.plain(Op::flatten, "flatten", {x});
  for (const int number : {6, 7}) {
    x = b.dropout(fmt::format("dropout{}", number), x, dropout);
    x = b.linear(fmt::format("fc{}", number), x, 4096);
    x = b.plain(Op::relu, fmt::format("relu{}", number), {x});
  }
  return b.finish(b.linear("fc8", x, classes));
}

}  // namespace assay::network::networks
