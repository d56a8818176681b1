#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {
namespace {

constexpr double kEpsilon = 1e-5;

std::string normed(Builder& b, const std::string& prefix, const std::string& number, const std::string& input,
                   std::int64_t channels, const Window& window) {
  const auto x = b.convolution(prefix + "conv" + number, input, channels, window);
  return b.batch_norm(prefix + "bn" + number, x, kEpsilon);
}

/// 1 x 1 down, 3 x 3, 1 x 1 up by four; the shortcut is projected where shapes change.
std::string bottleneck(Builder& b, const std::string& name, const std::string& input, std::int64_t channels,
                       std::int64_t stride, bool project) {
  const std::string prefix = name + ".";
  auto x = normed(b, prefix, "1", input, channels, square(1));
  x = b.plain(Op::relu, prefix + "relu1", {x});
  x = normed(b, prefix, "2", x, channels, square(3, stride, 1));
  x = b.plain(Op::relu, prefix + "relu2", {x});
  x = normed(b, prefix, "3", x, 4 * channels, square(1));
  const auto shortcut = project ? normed(b, prefix, "_shortcut", input, 4 * channels, square(1, stride)) : input;
  x = b.plain(Op::add, prefix + "add", {x, shortcut});
  return b.plain(Op::relu, prefix + "relu3", {x});
}

}  // namespace

Graph resnet50(OptionReader& options) {
  const auto image = options.integer("image", 224, 32, 4096);
  const auto classes = options.integer("classes", 1000, 1, 1'000'000);
  options.finish();

  constexpr std::array blocks{3, 4, 6, 3};
  Builder b("resnet50");
  auto x = normed(b, "", "1", b.image(3, image), 64, square(7, 2, 3));
  x = b.plain(Op::relu, "relu1", {x});
  x = b.max_pool("pool1", x, square(3, 2, 1));
  std::int64_t channels = 64;
  for (std::size_t s = 0; s < blocks.size(); ++s, channels *= 2) {
    for (int i = 0; i < blocks[s]; ++i) {
      x = bottleneck(b, fmt::format("layer{}.{}", s + 1, i), x, channels, i == 0 && s > 0 ? 2 : 1, i == 0);
    }
  }
  x = b.plain(Op::global_average_pool, "pool", {x});
  return b.finish(b.linear("fc", x, classes));
}

}  // namespace assay::network::networks
