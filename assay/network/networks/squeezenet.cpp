#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {
namespace {

std::string rectified_convolution(Builder& b, const std::string& name, const std::string& input, std::int64_t channels,
                                  const Window& window) {
  return b.plain(Op::relu, name + ".relu", {b.convolution(name, input, channels, window, 1, true)});
}

/// Squeeze to few channels by 1 x 1, expand by 1 x 1 and by 3 x 3 to `expanded` each.
std::string fire(Builder& b, const std::string& name, const std::string& input, std::int64_t squeezed,
                 std::int64_t expanded) {
  const auto x = rectified_convolution(b, name + ".squeeze", input, squeezed, square(1));
  return b.concat(name + ".concat", {rectified_convolution(b, name + ".expand1", x, expanded, square(1)),
                                     rectified_convolution(b, name + ".expand3", x, expanded, square(3, 1, 1))});
}

}  // namespace

Graph squeezenet(OptionReader& options) {
  const auto image = options.integer("image", 224, 32, 4096);
  const auto classes = options.integer("classes", 1000, 1, 1'000'000);
  const double dropout = options.probability("dropout", 0.5);
  options.finish();

  Builder b("squeezenet");
  auto x = rectified_convolution(b, "conv1", b.image(3, image), 96, square(7, 2));
  x = b.max_pool("pool1", x, square(3, 2), true);
  x = fire(b, "fire2", x, 16, 64);
  x = fire(b, "fire3", x, 16, 64);
  x = fire(b, "fire4", x, 32, 128);
  x = b.max_pool("pool4", x, square(3, 2), true);
  x = fire(b, "fire5", x, 32, 128);
  x = fire(b, "fire6", x, 48, 192);
  x = fire(b, "fire7", x, 48, 192);
  x = fire(b, "fire8", x, 64, 256);
  x = b.max_pool("pool8", x, square(3, 2), true);
  x = fire(b, "fire9", x, 64, 256);
  x = b.dropout("dropout", x, dropout);
  x = rectified_convolution(b, "conv10", x, classes, square(1));
  return b.finish(b.plain(Op::global_average_pool, "pool", {x}));
}

}  // namespace assay::network::networks
