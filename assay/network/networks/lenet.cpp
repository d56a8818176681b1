#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {

/// LeNet-5's numbers of channels and features; its windows are smaller, as the images are, and it has today's ReLU and
/// largest values in place of tanh and means.
Graph lenet(OptionReader& options) {
  const auto classes = options.integer("classes", 10, 1, 1'000'000);
  options.finish();

  Builder b("lenet");
  auto x = b.image(1, 8);
  const auto convolution = [&](int number, std::int64_t channels) {
    x = b.convolution(fmt::format("conv{}", number), x, channels, square(3, 1, 1), 1, true);
    x = b.plain(Op::relu, fmt::format("relu{}", number), {x});
    x = b.max_pool(fmt::format("pool{}", number), x, square(2, 2));
  };
  convolution(1, 6);
  convolution(2, 16);
  x = b.plain(Op::flatten, "flatten", {x});
  const auto linear = [&](int number, std::int64_t features) {
    x = b.linear(fmt::format("fc{}", number), x, features);
    x = b.plain(Op::relu, fmt::format("relu{}", number), {x});
  };
  linear(3, 120);
  linear(4, 84);
  return b.finish(b.linear("fc5", x, classes));
}

}  // namespace assay::network::networks
