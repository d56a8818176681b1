#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {

Graph mlp(OptionReader& options) {
  const auto classes = options.integer("classes", 10, 1, 1'000'000);
  const auto width = options.integer("width", 128, 1, 1'000'000);
  options.finish();

  Builder b("mlp");
  auto x = b.plain(Op::flatten, "flatten", {b.image(1, 8)});
  for (const int number : {1, 2}) {
    x = b.linear(fmt::format("fc{}", number), x, width);
    x = b.plain(Op::relu, fmt::format("relu{}", number), {x});
  }
  return b.finish(b.linear("fc3", x, classes));
}

}  // namespace assay::network::networks
