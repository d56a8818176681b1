#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {
namespace {

/// The row of a table that a number chooses.
std::string looked_up(Builder& b, const std::string& name, const std::string& number, std::int64_t rows,
                      std::int64_t features) {
  return b.select(name, b.embedding(name + ".table", number, rows, features), 0);
}

}  // namespace

/// NeuMF: a product of factors beside a perceptron, each with tables of its own. The output is a logit.
Graph ncf(OptionReader& options) {
  const auto users = options.integer("users", 138'493, 1, 100'000'000);
  const auto items = options.integer("items", 26'744, 1, 100'000'000);
  const auto factors = options.integer("factors", 64, 1, 4096);
  options.finish();

  Builder b("ncf");
  const auto user = b.tokens("user", 1, users);
  const auto item = b.tokens("item", 1, items);
  const auto product =
      b.plain(Op::multiply, "product",
              {looked_up(b, "product.user", user, users, factors), looked_up(b, "product.item", item, items, factors)});
  auto x = b.concat("perceptron.input", {looked_up(b, "perceptron.user", user, users, 2 * factors),
                                         looked_up(b, "perceptron.item", item, items, 2 * factors)});
  int layer = 0;
  for (const auto features : {4 * factors, 2 * factors, factors}) {
    const std::string name = fmt::format("perceptron.fc{}", ++layer);
    x = b.plain(Op::relu, name + ".relu", {b.linear(name, x, features)});
  }
  return b.finish(b.linear("fc", b.concat("joined", {product, x}), 1), Loss::mean_square);
}

}  // namespace assay::network::networks
