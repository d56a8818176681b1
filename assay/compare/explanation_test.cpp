#include "assay/compare/explanation.hpp"

#include <gtest/gtest.h>

namespace assay::compare {
namespace {

TEST(Explanation, NamesTheLargestDifferenceFirst) {
  const auto parts =
      explain({{"conv", 0.010}, {"pool", 0.002}, {"fc", 0.003}}, {{"conv", 0.011}, {"pool", 0.006}, {"fc", 0.001}});
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].name, "pool");
  EXPECT_NEAR(parts[0].seconds(), 0.004, 1e-12);
  EXPECT_EQ(parts[1].name, "fc");  // it became faster by more than conv became slower
  EXPECT_EQ(parts[2].name, "conv");
}

TEST(Explanation, APartOfOneSideTakesNothingOnTheOther) {
  const auto parts = explain({{"old", 0.001}}, {{"new", 0.005}});
  EXPECT_EQ(parts.at(0).name, "new");
  EXPECT_EQ(parts[0].a_seconds, 0);
  EXPECT_NEAR(parts.at(1).seconds(), -0.001, 1e-12);
}

TEST(Explanation, PhasesMustBeTimedOnBothSides) {
  Comparison c;
  c.a.phases_seconds = {{"forward", 0.1}};
  EXPECT_TRUE(explain_phases(c).empty());
  c.b.phases_seconds = {{"forward", 0.3}};
  EXPECT_NEAR(explain_phases(c).at(0).seconds(), 0.2, 1e-12);
}

}  // namespace
}  // namespace assay::compare
