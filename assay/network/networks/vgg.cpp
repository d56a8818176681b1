#include "assay/network/networks/vgg.hpp"

#include "assay/network/builder.hpp"

namespace assay::network::networks {

Graph vgg(const std::string& name, const std::array<int, 5>& convolutions, OptionReader& options) {
  const auto classes = options.integer("classes", 1000, 1, 1'000'000);
  const double dropout = options.probability("dropout", 0.5);
  const auto image = options.multiple("image", 224, 32, 2048);
  options.finish();

  constexpr std::array<std::int64_t, 5> channels{64, 128, 256, 512, 512};
  Builder b(name);
  auto x = b.image(3, image);
  for (std::size_t s = 0; s < channels.size(); ++s) {
    for (int c = 1; c <= convolutions[s]; ++c) {
      x = b.convolution(fmt::format("conv{}_{}", s + 1, c), x, channels[s], square(3, 1, 1), 1, true);
      x = b.plain(Op::relu, fmt::format("relu{}_{}", s + 1, c), {x});
    }
    x = b.max_pool(fmt::format("pool{}", s + 1), x, square(2, 2));
  }
  x = b.plain(Op::flatten, "flatten", {x});
  for (const int number : {6, 7}) {
    x = b.linear(fmt::format("fc{}", number), x, 4096);
    x = b.plain(Op::relu, fmt::format("relu{}", number), {x});
    x = b.dropout(fmt::format("dropout{}", number), x, dropout);
  }
  return b.finish(b.linear("fc8", x, classes));
}

}  // namespace assay::network::networks
