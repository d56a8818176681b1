#include "assay/network/builder.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {
namespace {

const Window kOneBySeven{{1, 7}, {1, 1}, {0, 3}};
const Window kSevenByOne{{7, 1}, {1, 1}, {3, 0}};
const Window kOneByThree{{1, 3}, {1, 1}, {0, 1}};
const Window kThreeByOne{{3, 1}, {1, 1}, {1, 0}};

/// A convolution with its norm and activation, as part of a branch.
struct Step {
  std::int64_t channels;
  Window window;
};

class Inception {
 public:
  Inception(std::int64_t image) : input_(builder.image(3, image)) {}

  const std::string& input() const { return input_; }

  std::string normed(const std::string& name, const std::string& input, const Step& step) {
    const auto x = builder.normed_convolution(name, input, step.channels, step.window, 1e-3);
    return builder.plain(Op::relu, name + ".relu", {x});
  }

  /// Convolutions one after the other: "name.1", "name.2", …
  std::string branch(const std::string& name, std::string x, const std::vector<Step>& steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) x = normed(fmt::format("{}.{}", name, i + 1), x, steps[i]);
    return x;
  }

  std::string pooled(const std::string& name, const std::string& x, std::int64_t channels) {
    const auto average = builder.average_pool(name + ".pool", x, square(3, 1, 1));
    return normed(name, average, {channels, square(1)});
  }

  /// The 35 x 35 module.
  std::string wide(const std::string& name, const std::string& x, std::int64_t pool_channels) {
    return builder.concat(name + ".concat",
                          {branch(name + ".one", x, {{64, square(1)}}),
                           branch(name + ".five", x, {{48, square(1)}, {64, square(5, 1, 2)}}),
                           branch(name + ".three", x, {{64, square(1)}, {96, square(3, 1, 1)}, {96, square(3, 1, 1)}}),
                           pooled(name + ".pooled", x, pool_channels)});
  }

  /// The 17 x 17 module, with 7 x 7 convolutions in two parts.
  std::string factored(const std::string& name, const std::string& x, std::int64_t inner) {
    return builder.concat(name + ".concat",
                          {branch(name + ".one", x, {{192, square(1)}}),
                           branch(name + ".seven", x, {{inner, square(1)}, {inner, kOneBySeven}, {192, kSevenByOne}}),
                           branch(name + ".double", x,
                                  {{inner, square(1)},
                                   {inner, kSevenByOne},
                                   {inner, kOneBySeven},
                                   {inner, kSevenByOne},
                                   {192, kOneBySeven}}),
                           pooled(name + ".pooled", x, 192)});
  }

  /// The 8 x 8 module, whose branches fork once more.
  std::string forked(const std::string& name, const std::string& x) {
    const auto fork = [&](const std::string& from, const std::string& input) {
      return builder.concat(from + ".concat", {normed(from + ".across", input, {384, kOneByThree}),
                                               normed(from + ".down", input, {384, kThreeByOne})});
    };
    const auto one = branch(name + ".one", x, {{320, square(1)}});
    const auto three = fork(name + ".three", branch(name + ".three", x, {{384, square(1)}}));
    const auto twice = fork(name + ".double", branch(name + ".double", x, {{448, square(1)}, {384, square(3, 1, 1)}}));
    return builder.concat(name + ".concat", {one, three, twice, pooled(name + ".pooled", x, 192)});
  }

  Builder builder{"inception_v3"};

 private:
  std::string input_;
};

}  // namespace

Graph inception_v3(OptionReader& options) {
  const auto image = options.integer("image", 299, 75, 4096);
  const auto classes = options.integer("classes", 1000, 1, 1'000'000);
  const double dropout = options.probability("dropout", 0.5);
  options.finish();

  Inception n(image);
  Builder& b = n.builder;
  auto x = n.branch("stem1", n.input(), {{32, square(3, 2)}, {32, square(3)}, {64, square(3, 1, 1)}});
  x = b.max_pool("pool1", x, square(3, 2));
  x = n.branch("stem2", x, {{80, square(1)}, {192, square(3)}});
  x = b.max_pool("pool2", x, square(3, 2));
  x = n.wide("mixed5b", x, 32);
  x = n.wide("mixed5c", x, 64);
  x = n.wide("mixed5d", x, 64);
  x = b.concat("mixed6a.concat",
               {n.branch("mixed6a.three", x, {{384, square(3, 2)}}),
                n.branch("mixed6a.double", x, {{64, square(1)}, {96, square(3, 1, 1)}, {96, square(3, 2)}}),
                b.max_pool("mixed6a.pool", x, square(3, 2))});
  x = n.factored("mixed6b", x, 128);
  x = n.factored("mixed6c", x, 160);
  x = n.factored("mixed6d", x, 160);
  x = n.factored("mixed6e", x, 192);
  x = b.concat(
      "mixed7a.concat",
      {n.branch("mixed7a.three", x, {{192, square(1)}, {320, square(3, 2)}}),
       n.branch("mixed7a.seven", x, {{192, square(1)}, {192, kOneBySeven}, {192, kSevenByOne}, {192, square(3, 2)}}),
       b.max_pool("mixed7a.pool", x, square(3, 2))});
  x = n.forked("mixed7b", x);
  x = n.forked("mixed7c", x);
  x = b.plain(Op::global_average_pool, "pool", {x});
  x = b.dropout("dropout", x, dropout);
  return b.finish(b.linear("fc", x, classes));
}

}  // namespace assay::network::networks
