#include "assay/model/tables/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Table small() {
  return {
      {{"batch", Role::extrinsic}, {"width", Role::intrinsic}, {"flops", Role::intrinsic}, {"ranks", Role::parallel}},
      {{{1, 64, 640, 2}, 1.0},
       {{2, 64, 640, 2}, 2.5},
       {{2, 128, 1280, 2}, 4.0},
       {{2, 64, 640, 2}, 2.0},
       {{2, 64, 640, 2}, 9.0}}};
}

TEST(Table, RunsOfTheSameValuesAreOnePoint) {
  const auto points = points_of(small());
  ASSERT_EQ(points.size(), 3u);
  EXPECT_THAT(points[1].seconds, ElementsAre(2.5, 2.0, 9.0));
  EXPECT_DOUBLE_EQ(points[1].median(), 2.5);
}

TEST(Table, WhatWasSeenAtOneLevelIsSetAside) {
  std::vector<std::pair<std::string, double>> fixed;
  const auto varied = without_fixed(small(), fixed);
  EXPECT_EQ(varied.factors.size(), 3u);
  EXPECT_THAT(fixed, ElementsAre(std::pair<std::string, double>("ranks", 2)));
  EXPECT_THAT(varied.rows[2].values, ElementsAre(2, 128, 1280));
}

TEST(Table, FactorsThatGoTogetherAreOne) {
  std::vector<std::pair<std::string, double>> fixed;
  const auto varied = without_fixed(small(), fixed);
  const auto aliases = aliases_in(varied);
  const auto told_apart = without_aliases(varied, aliases);
  ASSERT_EQ(aliases.size(), 1u);
  EXPECT_EQ(aliases[0].factor, "width");  // FLOPs stay wherever they stand
  EXPECT_EQ(aliases[0].of, "flops");
  EXPECT_EQ(told_apart.factors.size(), 2u);  // batch 2 is met with both widths, so it stays
}

TEST(Table, IdentityIsThatOfTheDataNotOfItsOrder) {
  auto turned = small();
  std::swap(turned.rows[0], turned.rows[4]);
  EXPECT_EQ(identity(turned), identity(small()));
  turned.rows[0].seconds += 1e-9;
  EXPECT_NE(identity(turned), identity(small()));
}

TEST(Table, RefusesWhatNoLawOfPowersCanHold) {
  auto table = small();
  table.rows[1].values[0] = 0;
  try {
    check(table);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("row 2: batch is 0"));
  }
}

TEST(Table, KnowsTheUsualRoles) {
  EXPECT_EQ(usual_role("batch"), Role::extrinsic);
  EXPECT_EQ(usual_role("ranks"), Role::parallel);
  EXPECT_EQ(usual_role("hidden"), Role::intrinsic);
}

}  // namespace
}  // namespace assay::model
