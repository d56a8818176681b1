#include <algorithm>

#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {
namespace {

std::string normed(Builder& b, const std::string& name, const std::string& input, std::int64_t channels,
                   const Window& window, std::int64_t groups, bool active) {
  const auto x = b.normed_convolution(name, input, channels, window, 1e-5, groups);
  return active ? b.plain(Op::relu6, name + ".relu6", {x}) : x;
}

/// Widen, filter each channel alone, narrow; with a shortcut where the shapes allow it.
std::string inverted_residual(Builder& b, const std::string& name, const std::string& input, std::int64_t in,
                              std::int64_t out, std::int64_t expand, std::int64_t stride) {
  auto x = input;
  if (expand != 1) x = normed(b, name + ".expand", x, in * expand, square(1), 1, true);
  x = normed(b, name + ".depthwise", x, in * expand, square(3, stride, 1), in * expand, true);
  x = normed(b, name + ".project", x, out, square(1), 1, false);
  return stride == 1 && in == out ? b.plain(Op::add, name + ".add", {input, x}) : x;
}

/// `channels` at a width in percent, as the authors round it: to eights, and never down by more than a tenth.
std::int64_t widened(std::int64_t channels, std::int64_t width) {
  const auto rounded = std::max<std::int64_t>(8, (channels * width + 400) / 800 * 8);
  return rounded * 1000 < channels * width * 9 ? rounded + 8 : rounded;
}

}  // namespace

Graph mobilenet_v2(OptionReader& options) {
  const auto image = options.integer("image", 224, 32, 4096);
  const auto width = options.integer("width", 100, 10, 400);  // percent of all channels
  const auto classes = options.integer("classes", 1000, 1, 1'000'000);
  const double dropout = options.probability("dropout", 0.2);
  options.finish();

  struct Stage {
    std::int64_t expand, channels, blocks, stride;
  };
  constexpr std::array stages{Stage{1, 16, 1, 1}, Stage{6, 24, 2, 2},  Stage{6, 32, 3, 2}, Stage{6, 64, 4, 2},
                              Stage{6, 96, 3, 1}, Stage{6, 160, 3, 2}, Stage{6, 320, 1, 1}};
  Builder b("mobilenet_v2");
  auto x = normed(b, "stem", b.image(3, image), widened(32, width), square(3, 2, 1), 1, true);
  std::int64_t in = widened(32, width);
  int block = 0;
  for (const auto& stage : stages) {
    for (std::int64_t i = 0; i < stage.blocks; ++i) {
      const auto out = widened(stage.channels, width);
      x = inverted_residual(b, fmt::format("block{}", ++block), x, in, out, stage.expand, i == 0 ? stage.stride : 1);
      in = out;
    }
  }
  x = normed(b, "head", x, widened(1280, std::max<std::int64_t>(100, width)), square(1), 1, true);
  x = b.plain(Op::global_average_pool, "pool", {x});
  x = b.dropout("dropout", x, dropout);
  return b.finish(b.linear("fc", x, classes));
}

}  // namespace assay::network::networks
