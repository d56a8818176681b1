#include "assay/model/fitting/family.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

namespace assay::model {
namespace {

using testing::HasSubstr;

/// Exact times over a grid of two or three factors.
Table table_of(std::vector<Factor> factors, const std::vector<std::vector<double>>& levels,
               const std::function<double(const std::vector<double>&)>& truth) {
  Table table{std::move(factors), {}};
  std::vector<std::size_t> at(levels.size(), 0);
  while (true) {
    std::vector<double> values;
    for (std::size_t f = 0; f < levels.size(); ++f) values.push_back(levels[f][at[f]]);
    table.rows.push_back({values, truth(values)});
    std::size_t f = 0;
    while (f < at.size() && ++at[f] == levels[f].size()) at[f++] = 0;
    if (f == at.size()) return table;
  }
}

std::map<std::string, double> constants_of(const Family& family, const Law& law) {
  std::map<std::string, double> found;
  for (const auto& constant : family.constants(law)) found[constant.name] = constant.value;
  return found;
}

TEST(Generic, FindsTheConstantsOfALawWithoutNoise) {
  const auto table =
      table_of({{"width", Role::intrinsic}, {"depth", Role::intrinsic}, {"batch", Role::extrinsic}},
               {{64, 128, 256, 512}, {2, 4, 8, 16}, {1, 4, 16, 64}}, [](const auto& x) {
                 return (1e-5 * std::pow(x[0], 1.4) + 0.02 * std::pow(x[1], 0.9)) * std::pow(x[2], 0.8) + 0.05;
               });
  const auto& family = generic_family();
  const auto found = constants_of(family, family.fit(table, {}));
  EXPECT_NEAR(found.at("a_width"), 1e-5, 1e-7);
  EXPECT_NEAR(found.at("a_depth"), 0.02, 2e-4);
  EXPECT_NEAR(found.at("p_width"), 1.4, 1e-3);
  EXPECT_NEAR(found.at("p_depth"), 0.9, 1e-3);
  EXPECT_NEAR(found.at("q_batch"), 0.8, 1e-3);
  EXPECT_NEAR(found.at("C"), 0.05, 5e-4);
}

TEST(Generic, NeedsMorePointsThanConstants) {
  const auto table = table_of({{"width", Role::intrinsic}}, {{1, 2, 4, 8}}, [](const auto& x) { return x[0]; });
  EXPECT_EQ(generic_family().refusal(table), std::nullopt);  // a, p and C on four points
  Table fewer = table;
  fewer.rows.pop_back();
  EXPECT_THAT(generic_family().refusal(fewer).value_or(""), HasSubstr("3 points are too few for its 3 constants"));
}

TEST(Ssgd, FindsTheTermsOfAStep) {
  // 3 ms + 2 ns a sample and unit of work, shared by threads + 4 ms for each other rank
  const auto table = table_of({{"batch", Role::extrinsic}, {"threads", Role::parallel}, {"ranks", Role::parallel}},
                              {{1, 4, 16}, {1, 2, 4}, {1, 2, 4}},
                              [](const auto& x) { return 3e-3 + 2e-3 * x[0] / x[1] + 4e-3 * (x[2] - 1); });
  const auto& family = ssgd_family();
  const auto found = constants_of(family, family.fit(table, {}));
  EXPECT_NEAR(found.at("start"), 3e-3, 1e-8);
  EXPECT_NEAR(found.at("compute shared"), 2e-3, 1e-8);
  EXPECT_NEAR(found.at("latency"), 4e-3, 1e-8);
  EXPECT_NEAR(found.at("compute"), 0, 1e-8);
  EXPECT_NEAR(found.at("traffic"), 0, 1e-8);
}

TEST(Ssgd, SaysWhatItNeeds) {
  const auto table = table_of({{"n", Role::intrinsic}}, {{1, 2, 4}}, [](const auto& x) { return x[0]; });
  EXPECT_THAT(ssgd_family().refusal(table).value_or(""), HasSubstr("batch or flops"));
}

TEST(Ernest, FindsItsFourTerms) {
  const auto table = table_of({{"size", Role::intrinsic}, {"machines", Role::parallel}}, {{8, 32, 128}, {1, 2, 4, 8}},
                              [](const auto& x) { return 1 + 0.2 * x[0] / x[1] + 0.7 * std::log2(x[1]) + 0.1 * x[1]; });
  const auto& family = ernest_family();
  const auto law = family.fit(table, {});
  const Evaluator evaluator(law, table.factors);
  // Beyond what it saw: 1 + .2 * 512/16 + .7 * 4 + 1.6
  EXPECT_NEAR(evaluator.seconds({512, 16}), 1 + 6.4 + 2.8 + 1.6, 1e-6);
}

TEST(Terms, FindsSimplePowersAndLogarithms) {
  const auto table =
      table_of({{"n", Role::intrinsic}, {"p", Role::parallel}}, {{16, 32, 64, 128, 256}, {1, 2, 4, 8, 16}},
               [](const auto& x) { return 2 + 0.01 * x[0] * std::log2(x[0]) / x[1] + 0.3 * x[1]; });
  const auto& family = terms_family();
  const auto law = family.fit(table, {});
  EXPECT_NEAR(Evaluator(law, table.factors).seconds({1024, 32}), 2 + 0.01 * 1024 * 10 / 32 + 0.3 * 32, 1e-4);
}

TEST(Families, AreKnownByName) {
  for (const auto* family : families()) EXPECT_EQ(&family_named(family->name()), family);
  EXPECT_THROW(static_cast<void>(family_named("magic")), Error);
}

}  // namespace
}  // namespace assay::model
