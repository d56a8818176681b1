#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {
namespace {

std::string active_convolution(Builder& b, const std::string& name, const std::string& input, std::int64_t channels,
                               const Window& window) {
  return b.plain(Op::relu, name + ".relu", {b.convolution(name, input, channels, window, 1, true)});
}

/// VGG-16 up to its fifth stage; gives the maps of the fourth, before its pool, and of the fifth.
std::pair<std::string, std::string> vgg_maps(Builder& b, std::string x) {
  constexpr std::array<int, 5> convolutions{2, 2, 3, 3, 3};
  constexpr std::array<std::int64_t, 5> channels{64, 128, 256, 512, 512};
  std::string fourth;
  for (std::size_t s = 0; s < channels.size(); ++s) {
    for (int c = 1; c <= convolutions[s]; ++c) {
      x = active_convolution(b, fmt::format("conv{}_{}", s + 1, c), x, channels[s], square(3, 1, 1));
    }
    if (s == 3) fourth = x;
    if (s < 4) x = b.max_pool(fmt::format("pool{}", s + 1), x, square(2, 2), s == 2);
  }
  return {fourth, x};
}

/// Six maps, ever smaller, in each of which boxes are looked for.
std::vector<std::string> ssd_maps(Builder& b, const std::string& image) {
  const auto [fourth, fifth] = vgg_maps(b, image);
  std::vector<std::string> maps{b.plain(Op::l2_norm, "conv4_3.norm", {fourth})};
  auto x = b.max_pool("pool5", fifth, square(3, 1, 1));
  x = b.plain(Op::relu, "conv6.relu", {b.dilated_convolution("conv6", x, 1024, 3, 6, true)});
  maps.push_back(active_convolution(b, "conv7", x, 1024, square(1)));
  struct Extra {
    int number;
    std::int64_t narrow, channels;
    Window window;
  };
  for (const auto& extra : {Extra{8, 256, 512, square(3, 2, 1)}, Extra{9, 128, 256, square(3, 2, 1)},
                            Extra{10, 128, 256, square(3)}, Extra{11, 128, 256, square(3)}}) {
    x = active_convolution(b, fmt::format("conv{}_1", extra.number), maps.back(), extra.narrow, square(1));
    maps.push_back(active_convolution(b, fmt::format("conv{}_2", extra.number), x, extra.channels, extra.window));
  }
  return maps;
}

}  // namespace

/// The output is all numbers of all boxes in one row: where they are, and what is in them. Suppressing those that
/// overlap is no part of it.
Graph ssd300(OptionReader& options) {
  const auto classes = options.integer("classes", 91, 1, 1'000'000);  // with the background
  options.finish();

  Builder b("ssd300");
  constexpr std::array<std::int64_t, 6> boxes{4, 6, 6, 6, 4, 4};  // at each place of a map
  const auto maps = ssd_maps(b, b.image(3, 300));
  std::vector<std::string> found;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    for (const auto& [what, numbers] : {std::pair{"places", std::int64_t{4}}, std::pair{"classes", classes}}) {
      const std::string name = fmt::format("{}{}", what, i + 1);
      const auto x = b.convolution(name, maps[i], boxes[i] * numbers, square(3, 1, 1), 1, true);
      found.push_back(b.plain(Op::flatten, name + ".flat", {x}));
    }
  }
  return b.finish(b.concat("boxes", found), Loss::mean_square);
}

}  // namespace assay::network::networks
