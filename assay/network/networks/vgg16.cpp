#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {

Graph vgg16(OptionReader& options) {
  const auto classes = options.integer("classes", 1000, 1, 1'000'000);
  const double dropout = options.probability("dropout", 0.5);
  options.finish();

  struct Stage {
    int convolutions;
    std::int64_t channels;
  };
  constexpr std::array stages{Stage{2, 64}, Stage{2, 128}, Stage{3, 256}, Stage{3, 512}, Stage{3, 512}};

  Builder b("vgg16");
  auto x = b.image(3, 224);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    for (int c = 1; c <= stages[s].convolutions; ++c) {
      x = b.convolution(fmt::format("conv{}_{}", s + 1, c), x, stages[s].channels, square(3, 1, 1), 1, true);
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
