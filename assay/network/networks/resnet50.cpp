#include "assay/network/networks/networks.hpp"
#include "assay/network/networks/resnet.hpp"

namespace assay::network::networks {

Graph resnet50(OptionReader& options) {
  const auto image = options.integer("image", 224, 32, 4096);
  const auto classes = options.integer("classes", 1000, 1, 1'000'000);
  options.finish();

  Builder b("resnet50");
  const auto x = b.plain(Op::global_average_pool, "pool", {resnet50_features(b, b.image(3, image), false)});
  return b.finish(b.linear("fc", x, classes));
}

}  // namespace assay::network::networks
