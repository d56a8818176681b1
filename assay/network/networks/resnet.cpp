#include "assay/network/networks/resnet.hpp"

namespace assay::network::networks {
namespace {

struct Bottleneck {
  std::int64_t channels;
  std::int64_t stride;
  std::int64_t dilation;
  bool project;  ///< the shortcut, because shapes change
};

std::string resnet_normed(Builder& b, const std::string& prefix, const std::string& number, const std::string& input,
                          std::int64_t channels, const Window& window, std::int64_t dilation = 1) {
  const std::string name = prefix + "conv" + number;
  const auto x = dilation == 1 ? b.convolution(name, input, channels, window)
                               : b.dilated_convolution(name, input, channels, window.kernel[0], dilation);
  return b.batch_norm(prefix + "bn" + number, x, kResnetEpsilon);
}

/// 1 x 1 down, 3 x 3, 1 x 1 up by four.
std::string bottleneck(Builder& b, const std::string& name, const std::string& input, const Bottleneck& block) {
  const std::string prefix = name + ".";
  auto x = resnet_normed(b, prefix, "1", input, block.channels, square(1));
  x = b.plain(Op::relu, prefix + "relu1", {x});
  x = resnet_normed(b, prefix, "2", x, block.channels, square(3, block.stride, 1), block.dilation);
  x = b.plain(Op::relu, prefix + "relu2", {x});
  x = resnet_normed(b, prefix, "3", x, 4 * block.channels, square(1));
  const auto shortcut =
      block.project ? resnet_normed(b, prefix, "_shortcut", input, 4 * block.channels, square(1, block.stride)) : input;
  x = b.plain(Op::add, prefix + "add", {x, shortcut});
  return b.plain(Op::relu, prefix + "relu3", {x});
}

}  // namespace

std::string resnet50_features(Builder& b, const std::string& image, bool dilated) {
  constexpr std::array blocks{3, 4, 6, 3};
  auto x = resnet_normed(b, "", "1", image, 64, square(7, 2, 3));
  x = b.plain(Op::relu, "relu1", {x});
  x = b.max_pool("pool1", x, square(3, 2, 1));
  std::int64_t channels = 64;
  std::int64_t dilation = 1;
  for (std::size_t s = 0; s < blocks.size(); ++s, channels *= 2) {
    const bool widens = dilated && s >= 2;
    for (int i = 0; i < blocks[s]; ++i) {
      const std::int64_t stride = i == 0 && s > 0 && !widens ? 2 : 1;
      x = bottleneck(b, fmt::format("layer{}.{}", s + 1, i), x, {channels, stride, dilation, i == 0});
      if (widens && i == 0) dilation *= 2;  // the first block still has that of the stage before
    }
  }
  return x;
}

}  // namespace assay::network::networks
