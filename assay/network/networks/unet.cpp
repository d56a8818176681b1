#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {
namespace {

/// Two 3 x 3 convolutions, each with its norm and activation.
std::string twice_convolved(Builder& b, const std::string& name, const std::string& input, std::int64_t channels) {
  auto x = input;
  for (const int i : {1, 2}) {
    const std::string part = fmt::format("{}.{}", name, i);
    x = b.plain(Op::relu, part + ".relu", {b.normed_convolution(part, x, channels, square(3, 1, 1), 1e-5)});
  }
  return x;
}

}  // namespace

/// With batch norm and with padding, so that maps of both sides fit. The output has the classes of each pixel.
Graph unet(OptionReader& options) {
  const auto channels = options.integer("channels", 64, 1, 1024);  // of the first level
  const auto levels = options.integer("levels", 4, 1, 8);          // at which the side is halved
  const auto image = options.multiple("image", 256, std::int64_t{1} << levels, 4096);
  const auto classes = options.integer("classes", 2, 1, 1'000'000);
  options.finish();

  Builder b("unet");
  std::vector<std::string> left{twice_convolved(b, "down0", b.image(3, image), channels)};
  for (std::int64_t level = 1; level <= levels; ++level) {
    const std::string name = fmt::format("down{}", level);
    const auto smaller = b.max_pool(name + ".pool", left.back(), square(2, 2));
    left.push_back(twice_convolved(b, name, smaller, channels << level));
  }
  auto x = left.back();
  for (std::int64_t level = levels - 1; level >= 0; --level) {
    const std::string name = fmt::format("up{}", level);
    x = b.transposed_convolution(name + ".larger", x, channels << level, 2, 2);
    x = b.concat(name + ".concat", {left[static_cast<std::size_t>(level)], x});
    x = twice_convolved(b, name, x, channels << level);
  }
  x = b.convolution("classes", x, classes, square(1), 1, true);
  return b.finish(b.plain(Op::to_sequence, "pixels", {x}));
}

}  // namespace assay::network::networks
