#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {
namespace {

/// Channels of the four branches of a module.
struct Module {
  const char* name;
  std::int64_t one;
  std::int64_t three_reduced, three;
  std::int64_t five_reduced, five;
  std::int64_t pooled;
};

std::string normed(Builder& b, const std::string& name, const std::string& input, std::int64_t channels,
                   const Window& window) {
  return b.plain(Op::relu, name + ".relu", {b.normed_convolution(name, input, channels, window, 1e-3)});
}

std::string inception(Builder& b, const std::string& input, const Module& m) {
  const std::string prefix = fmt::format("inception{}.", m.name);
  const auto one = normed(b, prefix + "branch1", input, m.one, square(1));
  auto three = normed(b, prefix + "branch2.reduce", input, m.three_reduced, square(1));
  three = normed(b, prefix + "branch2", three, m.three, square(3, 1, 1));
  auto five = normed(b, prefix + "branch3.reduce", input, m.five_reduced, square(1));
  // 3 x 3 where the paper has 5 x 5: the network people load, with 6,624,904 parameters, is this one.
  five = normed(b, prefix + "branch3", five, m.five, square(3, 1, 1));
  auto pooled = b.max_pool(prefix + "branch4.pool", input, square(3, 1, 1), true);
  pooled = normed(b, prefix + "branch4", pooled, m.pooled, square(1));
  return b.concat(prefix + "concat", {one, three, five, pooled});
}

}  // namespace

Graph googlenet(OptionReader& options) {
  const auto image = options.integer("image", 224, 32, 4096);
  const auto classes = options.integer("classes", 1000, 1, 1'000'000);
  const double dropout = options.probability("dropout", 0.2);
  options.finish();

  Builder b("googlenet");
  auto x = normed(b, "stem1", b.image(3, image), 64, square(7, 2, 3));
  x = b.max_pool("pool1", x, square(3, 2), true);
  x = normed(b, "stem2", x, 64, square(1));
  x = normed(b, "stem3", x, 192, square(3, 1, 1));
  x = b.max_pool("pool2", x, square(3, 2), true);
  x = inception(b, x, {"3a", 64, 96, 128, 16, 32, 32});
  x = inception(b, x, {"3b", 128, 128, 192, 32, 96, 64});
  x = b.max_pool("pool3", x, square(3, 2), true);
  x = inception(b, x, {"4a", 192, 96, 208, 16, 48, 64});
  x = inception(b, x, {"4b", 160, 112, 224, 24, 64, 64});
  x = inception(b, x, {"4c", 128, 128, 256, 24, 64, 64});
  x = inception(b, x, {"4d", 112, 144, 288, 32, 64, 64});
  x = inception(b, x, {"4e", 256, 160, 320, 32, 128, 128});
  x = b.max_pool("pool4", x, square(2, 2), true);
  x = inception(b, x, {"5a", 256, 160, 320, 32, 128, 128});
  x = inception(b, x, {"5b", 384, 192, 384, 48, 128, 128});
  x = b.plain(Op::global_average_pool, "pool", {x});
  x = b.dropout("dropout", x, dropout);
  return b.finish(b.linear("fc", x, classes));
}

}  // namespace assay::network::networks
