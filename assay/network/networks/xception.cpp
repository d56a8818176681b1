#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {
namespace {

constexpr double kXceptionEpsilon = 1e-3;

/// Each channel alone by 3 x 3, then all together by 1 x 1. `in`: channels of the input.
std::string separable(Builder& b, const std::string& name, const std::string& input, std::int64_t in,
                      std::int64_t out) {
  const auto x = b.convolution(name + ".depthwise", input, in, square(3, 1, 1), in);
  return b.normed_convolution(name + ".pointwise", x, out, square(1), kXceptionEpsilon);
}

/// Two separable convolutions and a pool, beside a shortcut of stride 2. The first block has no activation in front.
std::string shrinking_block(Builder& b, const std::string& name, const std::string& input, std::int64_t in,
                            std::int64_t middle, std::int64_t out, bool active) {
  const auto shortcut = b.normed_convolution(name + ".shortcut", input, out, square(1, 2), kXceptionEpsilon);
  auto x = active ? b.plain(Op::relu, name + ".relu1", {input}) : input;
  x = separable(b, name + ".separable1", x, in, middle);
  x = b.plain(Op::relu, name + ".relu2", {x});
  x = separable(b, name + ".separable2", x, middle, out);
  x = b.max_pool(name + ".pool", x, square(3, 2, 1));
  return b.plain(Op::add, name + ".add", {x, shortcut});
}

std::string even_block(Builder& b, const std::string& name, const std::string& input, std::int64_t channels) {
  auto x = input;
  for (int i = 1; i <= 3; ++i) {
    x = b.plain(Op::relu, fmt::format("{}.relu{}", name, i), {x});
    x = separable(b, fmt::format("{}.separable{}", name, i), x, channels, channels);
  }
  return b.plain(Op::add, name + ".add", {x, input});
}

}  // namespace

Graph xception(OptionReader& options) {
  const auto image = options.integer("image", 299, 71, 4096);
  const auto blocks = options.integer("blocks", 8, 1, 64);  // of the middle flow
  const auto classes = options.integer("classes", 1000, 1, 1'000'000);
  const double dropout = options.probability("dropout", 0);
  options.finish();

  Builder b("xception");
  const auto active = [&](const std::string& name, const std::string& x) {
    return b.plain(Op::relu, name + ".relu", {x});
  };
  auto x = b.normed_convolution("stem1", b.image(3, image), 32, square(3, 2), kXceptionEpsilon);
  x = active("stem1", x);
  x = active("stem2", b.normed_convolution("stem2", x, 64, square(3), kXceptionEpsilon));
  x = shrinking_block(b, "entry1", x, 64, 128, 128, false);
  x = shrinking_block(b, "entry2", x, 128, 256, 256, true);
  x = shrinking_block(b, "entry3", x, 256, 728, 728, true);
  for (std::int64_t i = 1; i <= blocks; ++i) x = even_block(b, fmt::format("middle{}", i), x, 728);
  x = shrinking_block(b, "exit", x, 728, 728, 1024, true);
  x = active("head1", separable(b, "head1", x, 1024, 1536));
  x = active("head2", separable(b, "head2", x, 1536, 2048));
  x = b.plain(Op::global_average_pool, "pool", {x});
  x = b.dropout("dropout", x, dropout);
  return b.finish(b.linear("fc", x, classes));
}

}  // namespace assay::network::networks
