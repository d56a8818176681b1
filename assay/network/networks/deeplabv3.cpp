#include "assay/network/networks/networks.hpp"
#include "assay/network/networks/resnet.hpp"

namespace assay::network::networks {
namespace {

constexpr std::int64_t kContext = 256;

std::string active_norm(Builder& b, const std::string& name, const std::string& input) {
  return b.plain(Op::relu, name + ".relu", {b.batch_norm(name + ".bn", input, kResnetEpsilon)});
}

/// The same features seen one by one, three times farther and farther, and as a whole.
std::string pyramid(Builder& b, const std::string& input, std::int64_t side, double dropout) {
  std::vector<std::string> seen;
  seen.push_back(active_norm(b, "pyramid.one", b.convolution("pyramid.one.conv", input, kContext, square(1))));
  for (const int rate : {12, 24, 36}) {
    const std::string name = fmt::format("pyramid.rate{}", rate);
    seen.push_back(active_norm(b, name, b.dilated_convolution(name + ".conv", input, kContext, 3, rate)));
  }
  auto whole = b.average_pool("pyramid.whole.pool", input, square(side));
  whole = active_norm(b, "pyramid.whole", b.convolution("pyramid.whole.conv", whole, kContext, square(1)));
  seen.push_back(b.resize("pyramid.whole.resize", whole, side));
  const auto x = b.convolution("pyramid.project.conv", b.concat("pyramid.concat", seen), kContext, square(1));
  return b.dropout("pyramid.dropout", active_norm(b, "pyramid.project", x), dropout);
}

}  // namespace

/// The output has the classes of each pixel, pixel by pixel.
Graph deeplabv3(OptionReader& options) {
  const auto image = options.multiple("image", 224, 8, 4096);
  const auto classes = options.integer("classes", 21, 1, 1'000'000);
  const double dropout = options.probability("dropout", 0.5);
  options.finish();

  Builder b("deeplabv3");
  auto x = pyramid(b, resnet50_features(b, b.image(3, image), true), image / 8, dropout);
  x = active_norm(b, "head", b.convolution("head.conv", x, kContext, square(3, 1, 1)));
  x = b.convolution("classes", x, classes, square(1), 1, true);
  x = b.resize("resize", x, image);
  return b.finish(b.plain(Op::to_sequence, "pixels", {x}));
}

}  // namespace assay::network::networks
